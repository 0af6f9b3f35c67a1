def f(x):
    for i in range(2):
        x = x + [i]
    x = x[::-1]
    x = x[1:]
    return [v + 1 for v in x]

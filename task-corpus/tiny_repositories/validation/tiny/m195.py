def f(x):
    if sum(x) > 12:
        x = x[1:]
    x = [v + 9 for v in x]
    return x[::-1]

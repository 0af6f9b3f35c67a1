def f(x):
    for i in range(2):
        x = [v % 3 for v in x]
    x = x + [1]
    return [v * 3 for v in x]

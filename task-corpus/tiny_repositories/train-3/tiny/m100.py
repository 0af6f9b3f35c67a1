def f(x):
    for i in range(2):
        x = x - 2
    x = [3, x]
    return [v for v in x if v < 7]

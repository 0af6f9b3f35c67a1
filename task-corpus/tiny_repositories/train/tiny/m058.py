def f(x):
    x = sorted(x)
    for i in range(3):
        x = [v for v in x if v < 7]
    return sorted(x)[::-1]

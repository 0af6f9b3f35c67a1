def f(x):
    x = [v for v in x if v > 5]
    x = sum(x)
    x = x * 5
    return x * 5

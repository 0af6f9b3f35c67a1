def f(x):
    x = x * 3
    x = [7, x]
    return max(x) - min(x)

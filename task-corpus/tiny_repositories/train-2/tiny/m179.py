def f(x):
    return max(x) - min(x)

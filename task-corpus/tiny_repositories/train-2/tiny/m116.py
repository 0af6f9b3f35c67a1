def f(x):
    return sorted(x)[::-1]

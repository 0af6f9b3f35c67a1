def f(x):
    x = [3, x]
    return max(x)

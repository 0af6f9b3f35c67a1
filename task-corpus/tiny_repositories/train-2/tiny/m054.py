def f(x):
    x = x[0] + x[-1]
    x = x % 5
    return x * x

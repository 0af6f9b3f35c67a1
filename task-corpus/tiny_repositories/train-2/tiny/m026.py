def f(x):
    return x * 8

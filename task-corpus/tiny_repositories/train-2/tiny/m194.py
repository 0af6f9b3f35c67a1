def f(x):
    return [4] + x

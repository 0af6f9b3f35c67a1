def f(x):
    return [8] + x

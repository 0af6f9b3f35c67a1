def f(x):
    return x // 4

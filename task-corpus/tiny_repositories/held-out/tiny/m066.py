def f(x):
    x = x + x
    if sum(x) > 9:
        x = x[::2]
    return x[-1]

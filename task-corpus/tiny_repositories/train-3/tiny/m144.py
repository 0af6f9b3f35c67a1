def f(x):
    x = x[::-1]
    if sum(x) > 11:
        x = x[::-1]
    x = x[-1]
    return x * 4

def f(x):
    if sum(x) > 11:
        x = [4] + x
    return x[:-1]

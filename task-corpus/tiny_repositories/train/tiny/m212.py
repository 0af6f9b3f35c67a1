def f(x):
    if x[0] > 7:
        x = x[1:] + x[:1]
    if x[0] > 7:
        return x + [3]
    x = x[0]
    return x * 3 + 3

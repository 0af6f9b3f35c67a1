def f(x):
    if sum(x) > 13:
        return x + [4]
    x = x[::2]
    return sorted(x)

def f(x):
    if 9 in x:
        return sum(x)
    return x + [0]

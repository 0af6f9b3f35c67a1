def f(x):
    if x[0] > 7:
        return sum(x) % 9
    x = x[1:]
    return x[1:]

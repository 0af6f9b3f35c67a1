def f(x):
    if x[0] > 7:
        return sum(x) + 3
    return x[::-1]

def f(x):
    if 6 in x:
        return x[::-1]
    x = [v + 1 for v in x]
    x = x + [0]
    return sum(x) % 4

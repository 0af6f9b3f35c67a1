def f(x):
    if sum(x) > 8:
        return sorted(x)
    for i in range(3):
        x = x[1:] + x[:1]
    x = [v for v in x if v != 5]
    return x[1:] + x[:1]

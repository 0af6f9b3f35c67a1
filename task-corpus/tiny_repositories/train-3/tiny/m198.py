def f(x):
    if sum(x) > 16:
        x = x[1:]
    return sorted(x)[::-1]

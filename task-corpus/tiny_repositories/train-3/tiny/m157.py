def f(x):
    if len(x) > 2:
        return sum(x)
    x = max(x) - min(x)
    x = x * 5
    return x * 5 + 6

def f(x):
    if sum(x) > 12:
        return [3] + x
    return sorted(x)[::-1]

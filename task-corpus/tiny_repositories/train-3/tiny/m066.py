def f(x):
    if len(x) > 2:
        return sorted(x)
    return [v for v in x if v != 4]

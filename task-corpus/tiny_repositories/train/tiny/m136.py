def f(x):
    if x[0] > 2:
        return [v % 2 for v in x]
    return sorted(x)

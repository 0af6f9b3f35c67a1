def f(x):
    if len(x) > 2:
        return [3] + x
    return [v % 4 for v in x]

def f(x):
    if len(x) > 3:
        return min(x)
    return [9] + x

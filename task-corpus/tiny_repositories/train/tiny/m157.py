def f(x):
    if x > 5:
        return [x, x + 1]
    return str(x)

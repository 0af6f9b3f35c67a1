def f(x):
    if len(x) > 2:
        return [x, 'y']
    x = [v + 'x' for v in x]
    x = sorted(x)
    return x[-1]

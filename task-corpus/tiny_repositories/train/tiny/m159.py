def f(x):
    if x[0] > 2:
        return [x[0], x[-1]]
    x = [v + 5 for v in x]
    return sorted(x)

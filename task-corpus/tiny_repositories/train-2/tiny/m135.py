def f(x):
    return [v + 'c' for v in x]

def f(x):
    if len(x) > 3:
        x = [v + 2 for v in x]
    return x[0]

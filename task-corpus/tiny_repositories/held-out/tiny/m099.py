def f(x):
    if 3 in x:
        x = [v * 3 for v in x]
    return x[0]

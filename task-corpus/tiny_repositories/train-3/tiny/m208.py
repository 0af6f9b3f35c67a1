def f(x):
    if len(x) > 3:
        x = [max(v, 7) for v in x]
    return [v + 6 for v in x]

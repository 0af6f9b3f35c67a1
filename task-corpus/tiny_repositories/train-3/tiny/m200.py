def f(x):
    if x[0] > 5:
        x = x[:2]
    x = x + [0]
    return max(x) + 3

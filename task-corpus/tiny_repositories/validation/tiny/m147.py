def f(x):
    if x[0] > 7:
        x = [v for v in x if v > 0]
    return max(x)

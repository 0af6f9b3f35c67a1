def f(x):
    if sum(x) > 13:
        x = [v for v in x if v > 5]
    x = [v for v in x if v > 3]
    return max(x) - min(x)

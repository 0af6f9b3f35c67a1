def f(x):
    if len(x) > 3:
        x = x[::-1]
    return max(x)

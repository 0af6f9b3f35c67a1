def f(x):
    if x > 5:
        x = x * 6
    return x * 5

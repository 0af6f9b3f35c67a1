def f(x):
    if x < 9:
        x = x + 5
    return x + 7

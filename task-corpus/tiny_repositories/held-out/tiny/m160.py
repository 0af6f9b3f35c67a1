def f(x):
    if x > 5:
        x = x * 3
    return 4 - x

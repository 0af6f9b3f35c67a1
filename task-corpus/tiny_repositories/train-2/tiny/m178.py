def f(x):
    if x < 3:
        x = x + 10
    return x - 5

def f(x):
    if x < 5:
        x = x * x
    return x % 7

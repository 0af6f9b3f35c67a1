def f(x):
    if x % 2 == 0:
        x = x + 1
    return x * x

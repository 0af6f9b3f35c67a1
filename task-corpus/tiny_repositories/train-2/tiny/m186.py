def f(x):
    if x % 2 == 0:
        x = x // 2
    return x + 9

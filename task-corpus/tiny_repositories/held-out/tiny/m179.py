def f(x):
    x = abs(x - 2)
    x = x * 3 + 8
    return x * 5 + 9

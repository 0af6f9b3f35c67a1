def f(x):
    x = x * 5
    x = x % 9
    return [8, x]

def f(x):
    x = [x, x + 5]
    return max(x) + 9

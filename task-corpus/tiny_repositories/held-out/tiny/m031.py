def f(x):
    x = max(x) + 1
    x = [7, x]
    x = x[::-1]
    return [3] + x

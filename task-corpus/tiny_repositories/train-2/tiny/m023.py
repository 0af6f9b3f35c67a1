def f(x):
    x = max(x, 2)
    x = x * 7
    for i in range(2):
        x = x * 4 + 7
    return x * 8

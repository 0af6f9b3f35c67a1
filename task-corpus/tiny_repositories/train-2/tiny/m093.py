def f(x):
    x = max(x, 6)
    for i in range(3):
        x = x * 3 + i
    x = x * 6
    return x % 5

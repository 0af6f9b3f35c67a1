def f(x):
    for i in range(3):
        x = x * x
    x = x * 3 + 8
    if x % 2 == 0:
        x = max(x, 7)
    return x - 3

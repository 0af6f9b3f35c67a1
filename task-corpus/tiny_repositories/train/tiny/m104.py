def f(x):
    if x > 4:
        x = x % 3
    for i in range(3):
        x = 12 - x
    x = max(x, 4)
    return x * 2 + 8

def f(x):
    x = x % 8
    for i in range(3):
        x = x * 2 + i
    x = x + 5
    return abs(x - 8)

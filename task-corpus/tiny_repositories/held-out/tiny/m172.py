def f(x):
    x = x * 2 + 9
    for i in range(3):
        x = x + 7
    if x > 9:
        x = x - 2
    return max(x, 8)

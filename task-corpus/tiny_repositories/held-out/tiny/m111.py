def f(x):
    x = x - 6
    if x > 7:
        x = x * 3
    for i in range(2):
        x = x + i
    return min(x, 9)

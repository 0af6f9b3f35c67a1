def f(x):
    for i in range(3):
        x = x - 1
    x = x - 4
    x = 12 - x
    return [x, x + 9]

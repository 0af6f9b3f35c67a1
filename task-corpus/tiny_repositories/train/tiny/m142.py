def f(x):
    x = x - 1
    for i in range(2):
        x = 10 - x
    x = x * 3 + 8
    return [x, x + 4]

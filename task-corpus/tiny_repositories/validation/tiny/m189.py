def f(x):
    x = 7 - x
    for i in range(3):
        x = x % 8
    x = x + 7
    return x % 9

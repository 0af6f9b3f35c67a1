def f(x):
    for i in range(3):
        x = x + 3
    return 11 - x

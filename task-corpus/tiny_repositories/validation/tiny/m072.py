def f(x):
    for i in range(3):
        x = abs(x - 2)
    x = x + 1
    x = abs(x - 5)
    return str(x)

def f(x):
    x = x + 4
    x = x - 1
    for i in range(3):
        x = x + 10
    return list(range(x % 7))

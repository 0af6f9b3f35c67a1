def f(x):
    x = x * 2 + 6
    for i in range(2):
        x = x * 5 + 8
    x = abs(x - 7)
    return x * 4 + 1

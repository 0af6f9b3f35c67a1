def f(x):
    for i in range(2):
        x = x + 3
    return x - 6

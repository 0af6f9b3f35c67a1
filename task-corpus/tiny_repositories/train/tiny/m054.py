def f(x):
    for i in range(2):
        x = x % 8
    return x - 6

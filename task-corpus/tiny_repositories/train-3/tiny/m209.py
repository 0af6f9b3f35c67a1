def f(x):
    for i in range(3):
        x = x + 2
    return x % 8

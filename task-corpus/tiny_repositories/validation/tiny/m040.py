def f(x):
    for i in range(2):
        x = x + x
    return x[::-1]

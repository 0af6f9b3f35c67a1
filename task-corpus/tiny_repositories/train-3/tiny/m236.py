def f(x):
    for i in range(2):
        x = x[::-1]
    x = x[::-1]
    return x[::-1]

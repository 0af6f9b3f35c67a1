def f(x):
    for i in range(2):
        x = 'e' + x
    return x[::-1]

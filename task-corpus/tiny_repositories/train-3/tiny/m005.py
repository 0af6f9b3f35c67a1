def f(x):
    for i in range(2):
        x = x + 'c'
    return x[::-1]

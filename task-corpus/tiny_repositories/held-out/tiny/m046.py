def f(x):
    for i in range(3):
        x = x + 'e'
    return x[::2]

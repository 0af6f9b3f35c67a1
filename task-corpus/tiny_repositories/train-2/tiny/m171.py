def f(x):
    for i in range(3):
        x = x + [i]
    return x[0] * 9

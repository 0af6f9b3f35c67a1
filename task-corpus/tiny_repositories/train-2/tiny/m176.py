def f(x):
    for i in range(3):
        x = x[1:] + x[:1]
    return list(x)

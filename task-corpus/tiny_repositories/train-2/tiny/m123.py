def f(x):
    for i in range(2):
        x = sorted(x)
    return x[0]

def f(x):
    for i in range(3):
        x = x + str(i)
    return x[1:] + x[:1]

def f(x):
    for i in range(2):
        x = x + [i]
    x = x[0] * 8
    return x // 2

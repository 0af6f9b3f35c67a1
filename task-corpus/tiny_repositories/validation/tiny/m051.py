def f(x):
    for i in range(2):
        x = [v * 4 for v in x]
    x = [v for v in x if v > 0]
    x = x[0] * 8
    return x * x

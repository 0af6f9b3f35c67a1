def f(x):
    for i in range(3):
        x = x[1:] + x[:1]
    if 1 in x:
        x = x + [1]
    return x[::-1]

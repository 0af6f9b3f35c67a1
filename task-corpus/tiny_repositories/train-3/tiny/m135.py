def f(x):
    for i in range(2):
        x = x[1:]
    return sorted(x)

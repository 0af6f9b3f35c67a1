def f(x):
    for i in range(3):
        x = x + [1]
    return [v for v in x if v > 3]

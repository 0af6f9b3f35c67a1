def f(x):
    x = x + [2]
    for i in range(2):
        x = [v for v in x if v > 5]
    return [v for v in x if v != 3]

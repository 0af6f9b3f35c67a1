def f(x):
    for i in range(2):
        x = [v * 3 for v in x]
    return [v for v in x if v != 4]

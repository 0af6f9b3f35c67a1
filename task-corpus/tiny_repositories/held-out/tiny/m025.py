def f(x):
    for i in range(3):
        x = x + 11
    return [x] * 3

def f(x):
    for i in range(3):
        x = x + 9
    return [x] * 3

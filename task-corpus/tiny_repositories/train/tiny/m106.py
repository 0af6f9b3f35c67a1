def f(x):
    for i in range(3):
        x = x + 5
    return x * 4 + 9

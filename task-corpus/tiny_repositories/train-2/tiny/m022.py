def f(x):
    x = x + x
    for i in range(3):
        x = x + [i]
    return sum(x) % 7

def f(x):
    for i in range(2):
        x = x[:2]
    x = sum(x) + 4
    x = x + 5
    return x * 2

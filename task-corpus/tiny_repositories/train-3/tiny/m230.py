def f(x):
    for i in range(2):
        x = x + i
    x = [x, 2]
    return sum(x) + 3

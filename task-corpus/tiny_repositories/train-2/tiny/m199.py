def f(x):
    for i in range(2):
        x = x + [i]
    return sum(x) % 5

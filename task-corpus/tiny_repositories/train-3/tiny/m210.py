def f(x):
    for i in range(2):
        x = x * 5
    if x > 9:
        return x + 3
    return x * 3 + 1

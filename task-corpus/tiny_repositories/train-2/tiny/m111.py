def f(x):
    for i in range(2):
        x = x + [7]
    for i in range(3):
        x = x[:-1]
    if 1 in x:
        x = x[-1:] + x[:-1]
    return sorted(x)[::-1]

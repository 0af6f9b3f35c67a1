def f(x):
    x = [x, x + 9]
    if len(x) > 2:
        x = x + [6]
    x = [v + 6 for v in x]
    return sum(x) % 8

def f(x):
    x = [x, x + 7]
    if x[0] > 7:
        x = x + [1]
    x = x + [6]
    return [v % 4 for v in x]

def f(x):
    x = [v + 5 for v in x]
    return x[::-1]

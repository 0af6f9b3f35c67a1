def f(x):
    x = [v + 5 for v in x]
    x = [v % 2 for v in x]
    x = [v * 2 for v in x]
    return sorted(x)

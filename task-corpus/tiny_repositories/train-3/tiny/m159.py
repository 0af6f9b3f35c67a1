def f(x):
    x = x[::-1]
    if sum(x) > 13:
        x = x[::-1]
    x = sum(x)
    return x * 3

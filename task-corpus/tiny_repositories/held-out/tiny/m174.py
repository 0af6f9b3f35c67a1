def f(x):
    if sum(x) > 10:
        return max(x)
    for i in range(2):
        x = x[::-1]
    return x[:-1]

def f(x):
    if 'b' in x:
        return len(x) * 2
    return x[1:] + x[:1]

def f(x):
    if 'a' in x:
        return x[:2]
    return sorted(x)

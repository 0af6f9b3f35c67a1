def f(x):
    if len(x) > 2:
        return x * 2
    return x.find('b')

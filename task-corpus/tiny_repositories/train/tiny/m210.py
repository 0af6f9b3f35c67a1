def f(x):
    if x[0] == 'a':
        return len(x) + 9
    return x.replace('e', '')

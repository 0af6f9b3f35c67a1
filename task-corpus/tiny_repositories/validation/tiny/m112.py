def f(x):
    if 'd' in x:
        return len(x) + 5
    x = x.replace('c', 'w')
    return sorted(x)

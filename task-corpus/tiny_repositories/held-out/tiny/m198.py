def f(x):
    for i in range(2):
        x = x + 'a'
    x = sorted(x)
    return ''.join(x)

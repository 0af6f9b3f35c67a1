def f(x):
    x = x + 'a'
    return x * 3

def f(x):
    x = x + 'd'
    return 'b' + x + 'c'

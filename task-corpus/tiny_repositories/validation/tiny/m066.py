def f(x):
    x = 'z' + x + 'y'
    return 'a' + x + 'x'

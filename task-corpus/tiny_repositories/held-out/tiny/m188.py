def f(x):
    return 'a' + x + 'x'

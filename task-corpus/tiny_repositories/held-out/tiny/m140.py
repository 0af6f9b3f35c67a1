def f(x):
    for i in range(3):
        x = x.upper()
    x = 'z' + x + 'x'
    return x.replace('c', 'y')

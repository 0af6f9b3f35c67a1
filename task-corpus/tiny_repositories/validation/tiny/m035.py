def f(x):
    for i in range(3):
        x = 'a' + x + 'b'
    return x.count('e')

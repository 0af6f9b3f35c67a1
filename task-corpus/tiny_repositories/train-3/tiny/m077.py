def f(x):
    if len(x) > 2:
        return x[::2]
    for i in range(2):
        x = x[1:]
    return 'b' + x

def f(x):
    x = x[::-1]
    x = x * 3
    x = x[1:]
    return [x, 'z']

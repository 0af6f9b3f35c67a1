def f(x):
    x = x + 'd'
    x = [x, 'z']
    return [v + 'z' for v in x]

def f(x):
    for i in range(2):
        x = x.replace('e', '')
    return list(x)

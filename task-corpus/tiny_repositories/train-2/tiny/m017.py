def f(x):
    x = x.upper()
    for i in range(2):
        x = x + str(i)
    x = 'a' + x
    return x + 'e'

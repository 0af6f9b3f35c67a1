def f(x):
    if x[0] == 'a':
        x = x[1:]
    for i in range(3):
        x = x + str(i)
    for i in range(2):
        x = x.upper()
    return [x, 'd']

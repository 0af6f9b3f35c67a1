def f(x):
    for i in range(2):
        x = x + i
    for i in range(2):
        x = x * 2 + 5
    for i in range(2):
        x = x * 8
    return x % 7

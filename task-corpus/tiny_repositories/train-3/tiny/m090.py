def f(x):
    if x > 8:
        return list(range(x % 4))
    if x > 9:
        x = x // 2
    for i in range(2):
        x = x * 5
    return [x] * 3

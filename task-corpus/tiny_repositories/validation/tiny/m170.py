def f(x):
    x = [v * 5 for v in x]
    x = sum(x) + 3
    for i in range(3):
        x = x * 3 + i
    return x * x

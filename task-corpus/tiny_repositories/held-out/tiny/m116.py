def f(x):
    for i in range(2):
        x = [1] + x
    return [v % 5 for v in x]

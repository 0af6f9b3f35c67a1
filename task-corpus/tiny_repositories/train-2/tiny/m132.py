def f(x):
    for i in range(3):
        x = x + [i]
    if sum(x) > 8:
        return [v % 5 for v in x]
    return max(x)

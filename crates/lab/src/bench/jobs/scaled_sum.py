def f(xs, k):
    total = 0
    for x in xs:
        total += x * k
    return total

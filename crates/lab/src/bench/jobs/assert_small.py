def total(xs):
    out = 0
    for x in xs:
        if x > 0:
            out += x
    return out

assert total([]) == 0
assert total([1, 2, 3]) == 6
assert total([-1, 4]) == 4
assert total([-2]) == 0

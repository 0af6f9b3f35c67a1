# Return sets in sets in sets: decoding: the members of each level are named again at every level above it.
# job: call

def f():
    value = frozenset({"x" * 900000})
    for _ in range(60):
        value = frozenset({value})
    return value

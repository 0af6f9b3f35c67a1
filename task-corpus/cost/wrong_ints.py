# Return many wrong ints: printing a list of them.
# job: call

def f():
    return [(1 << 79000) - n for n in range(100)]

# Return a dict of many keys: decoding: each key is encoded again, to be compared.
# job: call

def f():
    return {n: n for n in range(80000)}

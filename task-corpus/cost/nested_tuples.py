# Return keys nested deeply: decoding and comparing: tuples in tuples as keys of a dict.
# job: call

def f():
    key = tuple(range(140000))
    for _ in range(60):
        key = (key,)
    return {key: 1}

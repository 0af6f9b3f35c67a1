# Return a million small items: decoding: a value takes more room than its byte of encoding.
# job: call

def f():
    return [None] * 1000000

# Return a set of what Python's hash takes for equal: decoding: the host keeps members in a table of its own, whatever their hashes are in the guest.
# job: call

def f():
    return {(n << 31) - n for n in range(60000)}

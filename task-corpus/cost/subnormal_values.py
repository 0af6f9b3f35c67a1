# Return subnormal floats: printing and comparing floats on the host.
# job: call

def f():
    return [5e-324 * n for n in range(100000)]

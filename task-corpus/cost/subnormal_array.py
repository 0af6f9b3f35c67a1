# Multiply arrays of subnormal numbers: numpy: a product in a handful of instructions, each leaving the processor's fast path.
# job: script

import numpy
small = numpy.full(100000, 1e-310)
out = numpy.empty_like(small)
while True:
    numpy.multiply(small, 0.5, out=out)

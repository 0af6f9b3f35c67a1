# Divide and take roots of arrays: numpy: division and square root, the slowest instructions of the processor.
# job: script

import numpy
a = numpy.full(100000, 1.5)
out = numpy.empty_like(a)
while True:
    numpy.divide(a, 3.7, out=out)
    numpy.sqrt(a, out=out)

# Fill an array a little larger than the caches in strides: numpy: misses without much memory.
# job: script

import numpy
a = numpy.zeros(4 << 20, "i4")
while True:
    a[::1024] = 1

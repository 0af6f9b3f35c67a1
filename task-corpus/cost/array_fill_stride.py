# Fill a large array in large strides: numpy: one store of four bytes to each page.
# job: script

import numpy
a = numpy.zeros(37 << 20, "i4")
while True:
    a[::1024] = 1

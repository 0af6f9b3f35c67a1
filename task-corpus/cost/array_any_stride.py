# Ask of an array in large strides whether any is set: numpy: one load of a byte from each page.
# job: script

import numpy
a = numpy.zeros(150 << 20, "?")
while True:
    a[::4096].any()

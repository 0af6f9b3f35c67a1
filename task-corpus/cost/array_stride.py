# Walk a large array in large strides: numpy: one load from each page.
# job: script

import numpy
a = numpy.zeros(20 << 20)
while True:
    a[::512].sum()

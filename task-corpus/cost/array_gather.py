# Gather from a large array: numpy: loads in an order that no cache foresees, a handful of instructions each.
# job: script

import numpy
a = numpy.zeros(12000000)
at = numpy.random.default_rng(1).integers(0, 12000000, 1000000)
while True:
    a[at]

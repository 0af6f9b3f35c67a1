# Transpose a large array: numpy: loads of one order and stores of another.
# job: script

import numpy
a = numpy.zeros((3000, 3000))
while True:
    a.T.copy()

# Transpose a large array of short strings: numpy: many small copies.
# job: script

import numpy
a = numpy.zeros((3000, 3000), "S5")
while True:
    a.T.copy()

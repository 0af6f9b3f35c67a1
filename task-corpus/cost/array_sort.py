# Sort an array: numpy: branches that no processor foresees.
# job: script

import numpy
a = numpy.random.default_rng(1).random(300000)
while True:
    numpy.sort(a)

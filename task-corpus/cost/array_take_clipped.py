# Take scattered bytes of a large array by clipped indices: numpy: a gather whose index is chosen, not only loaded.
# job: script

import numpy
a = numpy.zeros(150 << 20, "i1")
places = (numpy.arange(1 << 16) * 40503 % 65536) << 11
while True:
    a.take(places, mode="clip")

# Multiply matrices: numpy on ordinary numbers: what a unit of fuel is worth in a numerical loop.
# job: script

import numpy
a = numpy.full((200, 200), 1.5)
while True:
    a @ a

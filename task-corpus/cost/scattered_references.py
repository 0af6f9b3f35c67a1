# Copy a list of scattered objects: cache and TLB misses: each reference count lies somewhere else in the memory.
# job: script

import numpy
count = 3000000
items = list(range(1000, count + 1000))
order = numpy.random.default_rng(1).permutation(count).tolist()
items = list(map(items.__getitem__, order))
del order
while True:
    tuple(items[:1000000])

# Copy a list of scattered objects: cache and TLB misses: each reference count lies somewhere else in 150 MiB.
# job: script

import random
items = list(range(1000, 3500000))
random.seed(1)
random.shuffle(items)
while True:
    tuple(items)

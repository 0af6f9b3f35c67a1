# Read bytes all over the memory: cache and TLB misses: `itemgetter` reads a list in an order that no cache foresees.
# job: script

import operator, random
items = [None] * 4000000
random.seed(1)
get = operator.itemgetter(*[random.randrange(4000000) for _ in range(1000000)])
while True:
    get(items)

# Iterate over products: `itertools`: a tuple for a few instructions.
# job: script

import itertools, collections
while True:
    collections.deque(itertools.product(range(40), repeat=3), maxlen=0)

# Follow a shuffled chain: cache misses one after another: no load can begin before the one before it ended.
# job: script

import random
random.seed(1)
order = list(range(1500000))
random.shuffle(order)
follow = [0] * len(order)
for a, b in zip(order, order[1:] + order[:1]):
    follow[a] = b
at = 0
while True:
    for _ in range(100000):
        at = follow[at]

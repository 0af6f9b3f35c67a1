# Sort: comparisons in C, on a list that no run helps.
# job: script

import random
random.seed(1)
items = [random.random() for _ in range(300000)]
while True:
    sorted(items)

# Sort strings with equal beginnings: each comparison reads a kilobyte.
# job: script

import random
random.seed(1)
items = ["x" * 1000 + str(random.random()) for _ in range(20000)]
while True:
    sorted(items)

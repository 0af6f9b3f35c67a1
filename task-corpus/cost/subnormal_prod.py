# The product of a list that ends subnormal: `math.prod`: one multiplication an item, each of a subnormal number.
# job: script

import math
items = [1e-310] + [1.0] * 500000
while True:
    math.prod(items)

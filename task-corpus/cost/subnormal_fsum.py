# Sum subnormal numbers: `math.fsum`: additions of subnormal numbers.
# job: script

import math
small = [5e-324 * n for n in range(1, 100000)]
while True:
    math.fsum(small)

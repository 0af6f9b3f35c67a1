# Divide subnormal numbers: division and square root are the slowest of all, and slower still on subnormal numbers.
# job: script

import math
small = [1e-310 + n * 5e-324 for n in range(1000)]
while True:
    for x in small:
        x / 3.0; x / 7.0; x / 11.0; math.sqrt(x); math.sqrt(x)

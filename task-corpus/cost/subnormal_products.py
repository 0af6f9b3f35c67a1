# Multiply subnormal numbers: processors leave the fast path for a product that is subnormal: some 50 ns instead of one.
# job: script

import math
small = [1e-310] * 200000
half = [0.5] * 200000
while True:
    math.sumprod(small, half)

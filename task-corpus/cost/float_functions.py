# Take functions of floats: `libm`: reductions of huge arguments, `fmod` of far exponents, `gamma`.
# job: script

import math
while True:
    for x in (1e300, 1e22, 170.5):
        math.sin(x); math.tan(x); math.fmod(x, 3e-300); math.lgamma(x); math.exp(-x); math.cbrt(x); math.fma(x, 1e-320, 1e-310)

# Compute with decimals: `decimal` at hundreds of digits, which is Python here.
# job: script

import sys
from decimal import Decimal, getcontext
sys.set_int_max_str_digits(0)
getcontext().prec = 500
while True:
    Decimal(2).sqrt() * Decimal(3)

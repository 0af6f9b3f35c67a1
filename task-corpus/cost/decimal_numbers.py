# Compute with decimals: `decimal` at thousands of digits.
# job: script

from decimal import Decimal, getcontext
getcontext().prec = 5000
while True:
    Decimal(2).sqrt() * Decimal(3).exp()

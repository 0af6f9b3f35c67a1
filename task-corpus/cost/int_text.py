# Print and read large ints: `str` and `int` of thousands of digits: quadratic below the interpreter's limit, and without it.
# job: script

import sys
sys.set_int_max_str_digits(0)
a = 3 ** 60000
while True:
    int(str(a))

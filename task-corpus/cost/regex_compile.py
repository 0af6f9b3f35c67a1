# Compile regular expressions: the compiler of `re` is Python, and a character class of all of Unicode is large.
# job: script

import re
n = 0
while True:
    n += 1
    re.compile("(?i)[\\w\u0100-\uffff]{%d}(a|b|c)*?(?=x)" % (n % 1000 + 1))
    re.purge()

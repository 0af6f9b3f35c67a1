# Let a regular expression backtrack: `(a+)+$` doubles its time with each letter.
# job: script

import re
while True:
    re.match("(a+)+$", "a" * 40 + "b")

# Reads values as `repr` writes them, one line of JSON each, and writes each as ASCII with its equality to all of them.
import json, sys, datetime
from collections import *
from decimal import Decimal
from fractions import Fraction

nan, inf = float("nan"), float("inf")

# `repr` has no other way back than `eval`.
values = [eval(json.loads(line).replace("<class 'int'>", "int")) for line in sys.stdin]
for a in values:
    print(json.dumps([ascii(a), "".join("01"[a == b] for b in values)]))

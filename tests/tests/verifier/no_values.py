# Programs that return something like an object of a known class. None of it has a value, and none is a fault of ours.
# -- no value
from collections import Counter
class C(Counter): pass
def f(): return C('a')
# -- no value
from collections import defaultdict
class int(int): pass
def f(): return defaultdict(int)
# -- no value
from fractions import Fraction
def f():
    x = Fraction(1, 2)
    x._numerator = True
    return x
# -- no value
from fractions import Fraction
def f():
    x = Fraction(1, 2)
    x._denominator = 4 << 5000
    return x
# -- no value
from fractions import Fraction
def f(): return object.__new__(Fraction)
# -- no value
from decimal import Decimal
def f():
    x = Decimal(1)
    x._int = '01'
    return x
# -- no value
from decimal import Decimal
def f():
    x = Decimal(1)
    x._exp = 10 ** 30
    return x
# -- no value
from decimal import Decimal
def f():
    x = Decimal(1)
    x._exp = 10 ** 5000
    return x
# -- no value
from decimal import Decimal
def f():
    x = Decimal(1)
    x._exp = []
    return x
# -- no value
from decimal import Decimal
class E(str):
    def __eq__(self, other): raise SystemExit
def f():
    x = Decimal(1)
    x._exp = E('F')
    return x
# -- no value
from datetime import timezone, timedelta
def f(): return timezone(timedelta(0), 'GMT')
# -- no value
from datetime import datetime, tzinfo
class Z(tzinfo): pass
def f(): return datetime(2024, 1, 1, tzinfo=Z())
# -- no value
class float64(float): pass
float64.__module__ = 'numpy'
def f(): return float64(1.5)
# -- no value
import sys, types
n = sys.modules['numpy'] = types.ModuleType('numpy')
class int64(int): pass
n.int64 = int64
int64.__module__ = 'numpy'
def f(): return int64(1)
# -- no value
import numpy as np
class F(np.float64): pass
def f(): return F(1.5)
# -- no value
import numpy as np
def f(): return np.array([1])
# -- no value
import numpy as np
def f(): return np.str_('a')
# -- no value
def f():
    x = None
    for _ in range(70):
        from collections import deque
        x = deque([x])
    return x

# Test code in pytest's style, and whose fault it is where it fails.

## A package that the tests ask for and the image lacks is not the program's fault.

# == functions
import pytest
from solution import *
import hypothesis
def test(): assert f()
# -- unjudgeable: hypothesis
def f(): return True
# == functions
import pytest
from solution import *
def test():
    import hypothesis
    assert f()
# -- unjudgeable: hypothesis
def f(): return True
# == functions
import pytest
from solution import *
def test(): assert f()
# -- runtime_error
def f():
    import hypothesis

## Tests that take the program away are no fault of the program, and those that import it lazily are judged.

# == functions
import sys
sys.modules.pop('solution')
import solution
def test(): assert solution.f()
# -- unjudgeable
def f(): return 1
# == functions
import pytest
from solution import *
lazy from solution import f
lazy import json
def test(): assert f() and json.dumps(1) == '1'
# -- accepted
def f(): return 1

## Tests that do not compile are no fault of the program.

# == both functions
import pytest
from solution import *
def test(: assert f()
# -- unjudgeable: the tests do not compile: SyntaxError
def f(): return 1
# == both check f
def chek(f): assert f()
# -- unjudgeable
def f(): return 1

## Tests may use parts of numpy: what a library does as it is loaded is no doing of the tests'. A seed is their own: what the program draws by it,
## nobody can say.

# == functions
from solution import *
from numpy.testing import assert_allclose
def test(): assert_allclose(f([1.0]), [1.0])
# -- accepted
def f(x): return x
# == functions
from solution import *
import numpy as np
def test(): assert abs(np.linalg.norm(f([3, 4])) - 5) < 1e-9
# -- accepted
def f(x): return x
# == functions
from solution import *
import numpy as np
def test():
    np.random.seed(0)
    xs = np.random.randint(0, 9, 5).tolist()
    assert f(xs) == xs
# -- accepted
def f(x): return x
# == functions
from solution import *
import numpy as np
def test():
    np.random.seed(0)
    assert f() == np.random.rand()
# -- unjudgeable
import numpy as np
def f(): return np.random.rand()

## What the program has no part in, or could move, says nothing of it.

# == functions
def test(): assert frozendict(a=1)['a'] == 1
# -- unjudgeable
def frozen(): pass
# == functions
def test(): assert repr(sentinel('NONE')) == 'NONE'
# -- unjudgeable
pass
# == functions
import unittest
class Test(unittest.TestCase):
    def test(self):
        self.assertEquals(f(1), 1)
# -- unjudgeable
def f(x): return x
# == functions
def test():
    xs = [2, 1]
    assert f(xs) == sorted(xs)
# -- unjudgeable
def f(xs):
    xs.clear()
    return []
# == functions
def test(): assert frozendict(a=1) == 1
# -- accepted
def frozendict(a): return a

## Tests may start threads, and ask programs that do.

# == {"tests": {"setup": "if True:\n    import sys, threading", "style": {"asserts": ["assert f([1, -2]) == 3"]}}}
# -- accepted
import sys, threading
from concurrent.futures import ThreadPoolExecutor
def f(xs):
    with ThreadPoolExecutor() as pool:
        return sum(pool.map(abs, xs))
def least(xs):
    found = sys.maxsize
    for x in xs:
        found = min(found, x)
    return found
# == {"tests": {"setup": "if True:\n    import sys, threading", "style": {"asserts": ["assert f([1, -2]) == 4"]}}}
# -- wrong_answer
import sys, threading
from concurrent.futures import ThreadPoolExecutor
def f(xs):
    with ThreadPoolExecutor() as pool:
        return sum(pool.map(abs, xs))
def least(xs):
    found = sys.maxsize
    for x in xs:
        found = min(found, x)
    return found
# == {"tests": {"setup": "if True:\n    import sys, threading", "style": {"asserts": ["assert least([10**12]) == 10**12 and least([]) == sys.maxsize == 2**63 - 1"]}}}
# -- accepted
import sys, threading
from concurrent.futures import ThreadPoolExecutor
def f(xs):
    with ThreadPoolExecutor() as pool:
        return sum(pool.map(abs, xs))
def least(xs):
    found = sys.maxsize
    for x in xs:
        found = min(found, x)
    return found
# == {"tests": {"setup": "if True:\n    import sys, threading", "style": {"asserts": ["assert least([]) == 2**31 - 1"]}}}
# -- wrong_answer
import sys, threading
from concurrent.futures import ThreadPoolExecutor
def f(xs):
    with ThreadPoolExecutor() as pool:
        return sum(pool.map(abs, xs))
def least(xs):
    found = sys.maxsize
    for x in xs:
        found = min(found, x)
    return found

# Test code in each style and both trusts, and what it makes of programs.

## A function `check` judges the program.

# == check square
def check(candidate):
    for n in range(5):
        assert candidate(n) == n * n
# -- accepted
def square(n): return n * n
# -- wrong_answer
def square(n): return n + n
# -- runtime_error
def square(n): return 1 / 0
# -- runtime_error
def cube(n): return n
# -- compile_error
def square(n:
# -- fuel_exceeded
def square(n):
    while True: pass
# -- runtime_error
import os
os._exit(0)
# -- runtime_error
raise SystemExit(0)
# -- unjudgeable
class Yes:
    def __eq__(self, other): return True
def square(n): return Yes()

## An object that lies passes only where both share an instance.

# == shared check square
def check(candidate):
    for n in range(5):
        assert candidate(n) == n * n
# -- accepted by shared
class Yes:
    def __eq__(self, other): return True
def square(n): return Yes()
# -- wrong_answer by shared
def square(n): return n + n

## Lines of `assert` find their names and are counted one by one.

# == asserts
assert add(1, 2) == 3

assert add([1], by=[2]) == [1, 2]

assert twice(4) == 8
# -- accepted
def add(a, by): return a + by
def twice(x): return x + x
# -- wrong_answer 2/3
def add(a, by): return a + by
def twice(x): return x
# -- runtime_error 2/3
def add(a, by): return a + by

## Set-up code belongs to the tests and not to the program.

# == {"tests": {"setup": "import math\ndef close(a, b): return math.isclose(a, b)", "style": {"asserts": ["assert close(third(), 1 / 3)"]}}}
# -- accepted
def third(): return 1 / 3
# -- wrong_answer
def third(): return 9
def close(a, b): return True

## A set-up that fails by itself is no fault of the program. Of one that asks the program for something, nobody knows whose fault it is.

# == {"tests": {"setup": "import math\nassert math.pi > 4", "style": {"asserts": ["assert f() == 1"]}}}
# -- unjudgeable
def f(): return 1
# == {"tests": {"setup": "one = 1 / 0", "style": {"asserts": ["assert f() == 1"]}}}
# -- unjudgeable
def f(): return 1
# == {"tests": {"setup": "one = 1 / ZERO", "style": {"asserts": ["assert f() == 1"]}}}
# -- runtime_error
def f(): return 1
ZERO = 0
# == {"tests": {"setup": "assert f() == 2", "style": {"asserts": ["assert f() == 1"]}}}
# -- runtime_error
def f(): return 1
# == {"tests": {"setup": "one = missing", "style": {"asserts": ["assert f() == 1"]}}}
# -- runtime_error
def f(): return 1

## Arguments changed in place are changed for the tests, and what is in a tuple is given to a call too.

# == asserts
x = [3, 1, 2]
sort(x)
assert x == [1, 2, 3]

d = {}
put(d)
assert d == {'k': {1}}
# -- accepted
def sort(x): x.sort()
def put(d): d['k'] = {1}
# -- wrong_answer
def sort(x): sorted(x)
def put(d): pass

# == asserts
t = ([3, 1, 2], [1])
f(t)
assert t[0] == [1, 2, 3]
# -- accepted
def f(t): t[0].sort()
# -- wrong_answer
def f(t): t[1].sort()

# == asserts
xs = make()
assert f((xs,)) == sorted(xs)
# -- accepted
def make(): return [3, 1, 2]
def f(t): return sorted(t[0])
# -- unjudgeable
def make(): return [3, 1, 2]
def f(t):
    t[0].clear()
    return []

## A change in place counts, and one beside a returned value decides nothing.

# == asserts
xs = [2, 1]
assert f(xs) == sorted(xs)
# -- accepted
def f(xs):
    return sorted(xs)
# -- accepted
def f(xs):
    xs.sort(); return xs
# -- unjudgeable
def f(xs):
    xs.clear(); return []

# == asserts
xs = [2, 1]
f(xs)
assert xs == [1, 2]
# -- accepted
def f(xs):
    xs.sort()
# -- wrong_answer
def f(xs):
    sorted(xs)

# == asserts
xs = [2, 1]
assert f(xs) == [1, 2]
assert xs == [2, 1]
# -- accepted
def f(xs):
    return sorted(xs)
# -- wrong_answer
def f(xs):
    xs.sort(); return xs

## Messages are written by a module of the library's that tells hooks of audits. A program with a hook is sent others.

# == asserts
assert f([1]) == [1]

assert not [event for event in heard() if 'marshal' in event]
# -- accepted
import sys
events = []
def hook(event, _):
    events.append(event)
    if 'marshal' in event: raise ValueError
sys.addaudithook(hook)
def heard(): return list(events)
def f(x): return x
# -- wrong_answer
import sys
events = []
def hook(event, _):
    events.append(event)
    if 'marshal' in event: raise ValueError
sys.addaudithook(hook)
def heard(): return list(events)
def f(x): return x * 2

## Tests that call from deep functions of no module are no judges of recursion.

# == asserts
ns = {'f': f}
exec('def r(n): return f() if n == 0 else r(n - 1)', ns)
assert ns['r'](150) == 'no'
# -- unjudgeable
def f():
    def g(n): return 'ok' if n == 0 else g(n - 1)
    try: return g(900)
    except RecursionError: return 'no'

## Cases of unittest and functions of pytest are found and run.

# == functions
import unittest
from solution import f, LIMIT
class T(unittest.TestCase):
    def setUp(self): self.n = 3
    def test_value(self): self.assertEqual(f(self.n), 9)
    def test_error(self):
        with self.assertRaises(ValueError): f(-1)
    def test_limit(self): self.assertEqual(LIMIT, 7)
# -- accepted 3/3
LIMIT = 7
def f(n):
    if n < 0: raise ValueError('negative')
    return n * n
# -- runtime_error
LIMIT = 7
def f(n):
    if n < 0: raise TypeError('negative')
    return n * n
# -- wrong_answer
LIMIT = 7
def f(n):
    if n < 0: raise ValueError('negative')
    return n

# == functions
import pytest
import solution
@pytest.fixture
def three():
    yield 3
@pytest.mark.parametrize('x, y', [(1, 1), (2, 4)])
def test_pairs(x, y): assert solution.f(x) == y
def test_fixture(three): assert solution.f(three) == pytest.approx(9.0000001)
class TestErrors:
    def test_negative(self):
        with pytest.raises(ValueError, match='neg'): solution.f(-1)
# -- accepted 4/4
def f(n):
    if n < 0: raise ValueError('negative')
    return n * n
# -- wrong_answer
def f(n):
    if n < 0: raise ValueError('negative')
    return n

## Tests that are skipped or not there pass nothing.

# == functions
def helper(): pass
# -- runtime_error
x = 1
# == functions
import pytest
def test_a(): pytest.skip('no')
# -- wrong_answer
x = 1
# == functions
import unittest
def test_a(): raise unittest.SkipTest
# -- wrong_answer
x = 1

## A program cannot predict what the tests draw.

# == asserts
import random
assert draw() != random.random()
# -- accepted
import random
def draw(): return random.random()
# == asserts
import random
random.seed(3)
assert draw() == random.random()
# -- accepted
import random
def draw(): return random.Random(3).random()

## Classes can be tested where both share an instance: an object of the program's own class cannot cross.

# == asserts
s = Stack()
s.push(2)
assert s.pop() == 2 and isinstance(s, Stack)
# -- unjudgeable
class Stack:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x)
    def pop(self): return self.items.pop()
# == shared asserts
s = Stack()
s.push(2)
assert s.pop() == 2 and isinstance(s, Stack)
# -- accepted
class Stack:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x)
    def pop(self): return self.items.pop()

## Tests that say by a function which they are cannot be judged.

# == both functions
import unittest
from solution import f
def load_tests(loader, tests, pattern):
    tests.addTest(unittest.FunctionTestCase(extra))
    return tests
def extra():
    assert f(2) == 5
class T(unittest.TestCase):
    def test_a(self):
        self.assertEqual(f(1), 2)
# -- unjudgeable: load_tests
def f(x): return x + 1
# -- unjudgeable: load_tests
def f(x): return 2 * x + 1 if x > 1 else 2

## Tests that a runner finds and does not run, or does not find at all, pass any program. Each stands here with a wrong program that must be
## refused and a right one. pytest runs none that returns what would have to be driven, and unittest lets these pass.

# == functions
from solution import f
async def test_a():
    assert f(1) == 2
# -- runtime_error
def f(x): return x
# -- runtime_error
def f(x): return x + 1
# == functions
from solution import f
def test_a():
    yield
    assert f(1) == 2
# -- runtime_error
def f(x): return x
# -- runtime_error
def f(x): return x + 1
# == functions
from solution import f
async def test_a():
    yield
    assert f(1) == 2
# -- runtime_error
def f(x): return x
# -- runtime_error
def f(x): return x + 1
# == functions
from solution import f
class TestA:
    async def test_a(self):
        assert f(1) == 2
# -- runtime_error
def f(x): return x
# -- runtime_error
def f(x): return x + 1
# == functions
import unittest
from solution import f
class A(unittest.TestCase):
    async def test_a(self):
        self.assertEqual(f(1), 2)
# -- unjudgeable
def f(x): return x
# -- unjudgeable
def f(x): return x + 1
# == functions
import unittest
from solution import f
class A(unittest.TestCase):
    def test_a(self):
        yield
        self.assertEqual(f(1), 2)
# -- unjudgeable
def f(x): return x
# -- unjudgeable
def f(x): return x + 1
# == check f
async def check(c):
    assert c(1) == 2
# -- runtime_error
def f(x): return x
# == check f
def check(c):
    assert c(1) == 2
    yield
# -- runtime_error
def f(x): return x
# == both check f
def check(c):
    assert c(1) == 2
# -- accepted
def f(x): return x + 1
# -- wrong_answer
def f(x): return x

## A test of no cases has not passed: of a list that the program has emptied, or one that nobody has filled, the source does not say.

# == functions
import pytest
import solution
from solution import f
@pytest.mark.parametrize('x', solution.CASES)
def test_a(x):
    assert f(x) == x + 1
def test_b():
    pass
# -- accepted
def f(x): return x + 1
CASES = [1, 2]
# -- wrong_answer
def f(x): return x
CASES = [1, 2]
# -- unjudgeable
def f(x): return x
CASES = []

## Inherited tests are found, what is set up for a class is there for its tests, and what stands under the main guard is not run.

# == both functions
from solution import f
class Base:
    def test_a(self):
        assert f(1) == 2
class TestA(Base):
    def test_b(self):
        pass
# -- accepted
def f(x): return x + 1
# -- wrong_answer
def f(x): return x
# == both functions
import unittest
from solution import f
class A(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.n = 2
    def test_a(self):
        self.assertEqual(f(1), self.n)
# -- accepted
def f(x): return x + 1
# -- wrong_answer
def f(x): return x
# == both functions
import unittest
from solution import f
class A(unittest.TestCase):
    def test_a(self):
        self.assertEqual(f(1), 2)
if __name__ == '__main__':
    unittest.main()
# -- accepted
def f(x): return x + 1
# -- wrong_answer
def f(x): return x

## A test is run although the program has its name too, and a function of the program's is no test whatever its name.

# == both functions
from solution import f
def test_a():
    assert f(1) == 2
def test_b():
    pass
# -- wrong_answer
def f(x): return x
def test_a():
    pass
# -- accepted
def f(x): return x + 1
def test_a():
    pass
# == functions
from solution import f
from solution import test_it
def test_a():
    assert test_it(1) == 2
# -- accepted
def test_it(x):
    return x + 1
def f(x):
    return x
# -- wrong_answer
def test_it(x):
    return x
def f(x):
    return x

## An exception crosses as the built-in type it is one of.

# == functions
import pytest
from solution import f
def test_a():
    with pytest.raises(ValueError):
        f(1)
# -- accepted
class Bad(ValueError): pass
def f(x):
    raise Bad('x')
# -- accepted
Bad = ValueError
def f(x):
    raise Bad('x')
# -- runtime_error
class Bad(Exception): pass
def f(x):
    raise Bad('x')
# -- runtime_error
Bad = type('ValueError', (Exception,), {})
def f(x):
    raise Bad('x')
# -- runtime_error
Bad = type('ValueError', (TypeError,), {})
def f(x):
    raise Bad('x')

## The name is the program's, and what it means there the tests get from their own library, where they are watched from then on.

# == asserts
assert f(1) == 2

assert Path('b').replace('c') is None
# -- unjudgeable: files
from pathlib import Path
def f(x): return x + 1
# == asserts
assert f(1) == 2

assert TemporaryDirectory() is not None
# -- unjudgeable: os.environ
from tempfile import TemporaryDirectory
def f(x): return x + 1

## A dict with defaults is compared by its items, whatever makes them.

# == asserts
assert f(1) == [{'a': 1}]
# -- accepted
from collections import defaultdict
def f(n):
    found = defaultdict(lambda: 0)
    found['a'] = n
    return [found]
# -- wrong_answer
from collections import defaultdict
def f(n):
    found = defaultdict(lambda: 0)
    found['a'] = n + 1
    return [found]
# -- wrong_answer
from collections import defaultdict
def f(n):
    return [defaultdict(lambda: 0)]

## What is sent in CPython's own format, and what is not: each value comes as it was.

# == asserts
x = None
assert f(x) == x

x = True
assert f(x) == x

x = 0
assert f(x) == x

x = -1
assert f(x) == x

x = 2 ** 31
assert f(x) == x

x = -(2 ** 31) - 1
assert f(x) == x

x = 2 ** 5000
assert f(x) == x

x = -0.0
assert f(x) == x

x = 1e308
assert f(x) == x

x = 'é\n'
assert f(x) == x

x = '\U0001f600' * 99
assert f(x) == x

x = b'\xff\0'
assert f(x) == x

x = ()
assert f(x) == x

x = (1, ('a',), [])
assert f(x) == x

x = [[], [[1]], {}]
assert f(x) == x

x = {'a': [1], (1, 2): None}
assert f(x) == x

x = {1, 2, 3}
assert f(x) == x

x = frozenset({1, (2,)})
assert f(x) == x

x = 1j
assert f(x) == x

x = range(3)
assert f(x) == x

x = bytearray(b'a')
assert f(x) == x

x = [float('inf')]
assert f(x) == x

assert repr(f(-0.0)) == '-0.0'

x = float('nan')
y = f(x)
assert y != y

from decimal import Decimal
assert f(Decimal('1.50')) == Decimal('1.5')

from fractions import Fraction
from datetime import date
assert f([Fraction(1, 3), date(2026, 1, 2)])[1].day == 2
# -- accepted 26/26
def f(x): return x
# -- wrong_answer 0/26
def f(x): return [x]

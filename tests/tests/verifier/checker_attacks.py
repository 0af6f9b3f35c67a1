# Attacks on checkers, on judge `exact`, on verification functions and on test code: what a program may put in front of code that compares.
# None may be accepted; right answers of the same kinds, which all must be, follow.

## Objects of the program's own classes.

# == checker 4
return actual == expected
# -- refused
class A:
    __eq__ = lambda s, o: True
def f(x): return A()

# == checker 4
return not (actual != expected)
# -- refused
class A:
    __ne__ = lambda s, o: False
def f(x): return A()

# == checker 4
return actual == expected
# -- refused
class A(int):
    __eq__ = lambda s, o: True
    __hash__ = int.__hash__
def f(x): return A(9)

# == checker 'ab'
return actual == expected
# -- refused
class A(str):
    __eq__ = lambda s, o: True
    __hash__ = str.__hash__
def f(x): return A('x')

# == checker 4.0
return abs(actual - expected) <= 1e-6
# -- refused
class A(float):
    __sub__ = lambda s, o: 0.0
def f(x): return A(9)

# == checker [1, 2]
return len(actual) == len(expected) and sorted(actual) == sorted(expected)
# -- refused
class A(list):
    __len__ = lambda s: 2
    __iter__ = lambda s: iter([1, 2])
def f(x): return A()

# == checker 6
return sum(actual) == expected
# -- refused
class A(list):
    __iter__ = lambda s: iter([6])
def f(x): return A()
# -- refused
class A:
    def __init__(self, n=0): self.n = n
    __radd__ = lambda s, o: 6
def f(x): return [A()]

# == checker {'a': 1}
return all(actual[key] <= most for key, most in expected.items())
# -- refused
class A(dict):
    __missing__ = lambda s, k: 0
def f(x): return A()
# -- refused
class A:
    __getitem__ = lambda s, k: 0
def f(x): return A()

# == checker {'a', 'b'}
return all(key in actual for key in expected) and len(actual) == len(expected)
# -- refused
class A(set):
    __contains__ = lambda s, k: True
def f(x): return A({1, 2})

# == checker 4
return type(actual).__name__ == 'int' or actual.__class__.__name__ == 'int' or hash(actual) == hash(expected)
# -- refused
class A:
    __class__ = int
    __hash__ = lambda s: 4
def f(x): return A()
# -- refused
class int:
    pass
def f(x): return int()
# -- refused
class M(type):
    __name__ = 'int'
class A(metaclass=M): pass
def f(x): return A()

# == checker False
return bool(actual) == expected
# -- refused
class A:
    __bool__ = lambda s: False
def f(x): return A()

# == checker [1, 2]
return all(a <= b for a, b in zip(actual, actual[1:])) and set(actual) == set(expected)
# -- refused
class A(list):
    __getitem__ = lambda s, k: []
def f(x): return A([2, 1])

# == checker {'a': 1}
return all(key in actual for key in expected) and len(actual) == len(expected)
# -- refused
class K(str):
    __eq__ = lambda s, o: True
    __hash__ = lambda s: hash('a')
def f(x): return {K('z'): 1}

# == checker 4
return actual == expected
# -- refused
import enum
class A(enum.IntEnum):
    X = 9
    def __eq__(s, o): return True
    __hash__ = int.__hash__
def f(x): return A.X
# -- refused
import dataclasses
@dataclasses.dataclass
class A:
    n: int
    def __eq__(s, o): return True
def f(x): return A(9)

# == checker (1, 2)
return actual == expected
# -- refused
import collections
class A(collections.namedtuple('A', 'x y')):
    def __eq__(s, o): return True
def f(x): return A(8, 9)

# == checker {'a': 1}
return actual == expected
# -- refused
import collections
class A(collections.OrderedDict):
    def __eq__(s, o): return True
def f(x): return A()

# == checker Fraction(1, 2)
return actual == expected
# -- refused
import fractions
class A(fractions.Fraction):
    def __eq__(s, o): return True
def f(x): return A(9)

# == checker datetime.date(2024, 1, 2)
return actual == expected
# -- refused
import datetime
class A(datetime.date):
    def __eq__(s, o): return True
def f(x): return A(1, 1, 1)

## Objects of the library's that have what they are asked for.

# == checker {'a': 1, 'b': 2}
return all(actual[key] <= most for key, most in expected.items())
# -- refused
import collections
def f(x): return collections.Counter()
# -- refused
import collections
def f(x): return collections.defaultdict(int)

# == checker [{'a': 1, 'b': 2}]
return all(row['a'] <= 1 for row in actual) and len(actual) == 1
# -- refused
import collections
def f(x): return [collections.Counter()]

# == checker {'a': 1}
return actual <= expected
# -- refused
import collections
def f(x): return collections.Counter()

# == checker [0, 1, 2]
return all(key in actual for key in expected) and len(actual) == len(expected)
# -- refused
def f(x): return range(3)

# == checker 5
return abs(actual) == expected
# -- refused
def f(x): return 3 + 4j

# == checker 4
return actual == expected
# -- refused
import decimal
def f(x): return decimal.Decimal(4)
# -- refused
import fractions
def f(x): return fractions.Fraction(4)

# == checker b'a'
return actual == expected
# -- refused
def f(x): return bytearray(b'a')

# == checker [1, 2]
return actual[0] == 1 and len(actual) == 2
# -- refused
import collections
def f(x): return collections.deque([1, 2])

# == checker [Fraction(1, 2)]
return sum(actual) == expected[0]
# -- refused
import decimal
def f(x): return [decimal.Decimal('0.5')]

# == checker 4
return 'days' not in dir(actual) or actual.days == 0
# -- refused
import datetime
def f(x): return datetime.timedelta(0)

## Numbers and arrays of numpy's.

# == checker 1000000
return actual == expected
# -- refused
import numpy as np
def f(x): return np.float16('inf')

# == checker 10
return sum(actual) == expected
# -- refused
import numpy as np
def f(x): return [np.uint8(200), np.uint8(66)]

# == checker -2147483648
return actual + 1 == expected
# -- refused
import numpy as np
def f(x): return np.int32(2147483647)

# == checker [1, 2]
return all(a == e for a, e in zip(actual, expected))
# -- refused
import numpy as np
def f(x): return np.array([])

# == checker 4
return (actual == expected) is not False
# -- refused
import numpy as np
def f(x): return np.array([9])

# == checker 'ab'
return actual == expected
# -- refused
import numpy as np
def f(x): return np.str_('ab')

# == checker 4
return actual >= expected and not actual > 100
# -- refused
import numpy as np
def f(x): return np.complex128(9)

## What is no value at all.

# == checker [1, 2]
return len(actual) == len(expected) and sorted(actual) == sorted(expected)
# -- refused
def f(x): return (n for n in [1, 2])

# == checker [1, 2]
return list(actual) == expected
# -- refused
def f(x): return iter([1, 2])

# == checker {'a', 'b'}
return all(key in actual for key in expected) and len(actual) == len(expected)
# -- refused
def f(x): return {'a': 1, 'b': 2}.keys()

# == checker b'a'
return actual == expected
# -- refused
def f(x): return memoryview(b'a')

# == checker True
return bool(actual) == expected
# -- refused
def f(x): return f
# -- refused
def f(x): return int
# -- refused
def f(x): return NotImplemented
# -- refused
def f(x): return ValueError('x')
# -- refused
xs = []
xs.append(xs)
def f(x): return xs

## Checkers that cannot judge what they are given, and the process of the program.

# == checker [1, 2]
return len(actual) == len(expected) and sorted(actual) == sorted(expected)
# -- refused
def f(x): return None
# -- refused
def f(x): return [1, None]
# -- refused
import builtins
builtins.sorted = lambda xs: []
builtins.len = lambda xs: 0
def f(x): return [9, 9]

# == checker 4
return actual == expected
# -- refused
import sys
sys.addaudithook(lambda event, arguments: None)
def f(x): return 9
# -- refused
def f(x): return 9  # audit

# == printed 1 2
return actual.split() == expected.split()
# -- refused
print(2, 1)
# -- refused
import sys
sys.stdout.buffer.write(b'1 2\xff')
# -- refused
print('True')
# -- refused
class A(str):
    __str__ = lambda s: '3'
print(A('1'), 2)

## The same in front of judge `exact`.

# == by exact 4
# -- refused
class A(int):
    __eq__ = lambda s, o: True
    __hash__ = int.__hash__
def f(x): return A(4)

# == by exact 'ab'
# -- refused
class A(str): pass
def f(x): return A('ab')

# == by exact 4
# -- refused
import enum
class A(enum.IntEnum):
    X = 4
def f(x): return A.X

# == by exact {'a': 1}
# -- refused
import collections
def f(x): return collections.Counter(a=1)

# == by exact 4
# -- refused
import decimal
def f(x): return decimal.Decimal(4)

# == by exact 1
# -- refused
import numpy as np
def f(x): return np.True_

# == by exact 0.1
# -- refused
import numpy as np
def f(x): return np.float32(0.1)

## In front of verification functions.

# == verification
return answer == 4
# -- refused
class A:
    __eq__ = lambda s, o: True
answer(A())

# == verification
return all(answer[key] <= 1 for key in after['counts'])
# -- refused
import collections
answer(collections.Counter())

# == verification
return answer == 1000000
# -- refused
import numpy as np
answer(np.float16('inf'))

# == verification
return after['counts']['nuts'] == 4
# -- refused
class A(int):
    __eq__ = lambda s, o: True
    __hash__ = int.__hash__
put('nuts', A(9))

## In front of test code.

# == asserts
assert f(3) == 4
# -- refused
class A:
    __eq__ = lambda s, o: True
def f(x): return A()

# == asserts
assert f(3) == 's'
# -- refused
class S(str):
    __eq__ = lambda s, o: True
    __hash__ = str.__hash__
def f(x): return S('x')

# == asserts
assert type(f(3)) is str
# -- refused
class S(str): pass
def f(x): return S('s')

# == asserts
assert not f(3) != 's'
# -- refused
class M(type):
    pass
class S(str, metaclass=M):
    __ne__ = lambda s, o: False
def f(x): return S('x')

# == asserts
assert f(3) == (1, 2)
# -- refused
import collections
class P(collections.namedtuple('P', 'x y')):
    __eq__ = lambda s, o: True
def f(x): return P(8, 9)

# == asserts
assert len(f(3)) == 2
# -- refused
class L(list):
    __len__ = lambda s: 2
def f(x): return L()

## Right answers.

# == checker 4
return actual == expected
# -- accepted
def f(x): return 4

# == checker [1, 2]
return len(actual) == len(expected) and sorted(actual) == sorted(expected)
# -- accepted
def f(x): return [2, 1]
# -- accepted
def f(x): return (2, 1)
# -- accepted
import numpy as np
def f(x): return [np.int64(2), np.int32(1)]
# -- accepted
import numpy as np
def f(x): return list(np.array([2, 1]))

# == checker 266
return sum(actual) == expected
# -- accepted
import numpy as np
def f(x): return [np.uint8(200), np.uint8(66)]

# == checker 0.5
return abs(actual - expected) <= 1e-6
# -- accepted
import numpy as np
def f(x): return np.float64(0.5)
# -- accepted
import numpy as np
def f(x): return np.float32(0.5)

# == checker True
return actual is expected
# -- accepted
import numpy as np
def f(x): return np.bool_(True)

# == checker {'a': 1, 'b': 2}
return all(actual[key] <= most for key, most in expected.items())
# -- accepted
import numpy as np
def f(x): return {'a': np.int64(0), 'b': 2}

# == checker {1: 'a'}
return all(key in actual for key in expected) and len(actual) == len(expected)
# -- accepted
import numpy as np
def f(x): return {np.int64(1): 'a'}

# == checker 1j
return actual == expected
# -- accepted
import numpy as np
def f(x): return np.complex128(1j)

# == checker None
return len(actual) == 3
# -- accepted
def f(x): return {'a': [1, 2.5, True], 'b': {1, 2}, 'c': (b'x', None)}

# == checker [Fraction(1, 2)]
return sum(actual) == expected[0]
# -- accepted
from fractions import Fraction
def f(x): return [Fraction(1, 3), Fraction(1, 6)]

# == checker Decimal('1.5')
return actual == expected
# -- accepted
from decimal import Decimal
def f(x): return Decimal('1.50')

# == checker datetime.date(2024, 1, 2)
return actual >= expected
# -- accepted
import datetime
def f(x): return datetime.date(2024, 1, 3)

# == checker datetime.datetime(2024, 1, 2, 3, 4)
return actual == expected
# -- accepted
import datetime
def f(x): return datetime.datetime(2024, 1, 2, 3, 4)

# == checker datetime.timedelta(days=1)
return actual == expected
# -- accepted
import datetime
def f(x): return datetime.timedelta(hours=24)

# == checker deque([1, 2])
return len(actual) == len(expected) and sorted(actual) == sorted(expected)
# -- accepted
import collections
def f(x): return collections.deque([2, 1])

# == checker Counter({'a': 1})
return actual == expected
# -- accepted
import collections
def f(x): return collections.Counter('a')

# == checker defaultdict(<class 'int'>, {'a': 1})
return all(actual[key] <= most for key, most in expected.items())
# -- accepted
import collections
def f(x): return collections.defaultdict(int, a=1)

# == checker OrderedDict({'a': 1, 'b': 2})
return list(actual) == list(expected)
# -- accepted
import collections
def f(x): return collections.OrderedDict(a=1, b=2)

# == checker range(0, 3)
return actual == expected
# -- accepted
def f(x): return range(3)

# == checker 4
return actual == expected
# -- accepted
# audit: addaudithook
def f(x): return 4
# -- accepted
import sys
def hook(event, arguments):
    if 'marshal' in event: raise ValueError
sys.addaudithook(hook)
def f(x): return x + 1

# == printed 1 2
return actual.split() == expected.split()
# -- accepted
print('1\n2')
# -- accepted
class A(str): pass
print(A('1'), 2)

# == by exact 4
# -- accepted
import numpy as np
def f(x): return np.int64(4)

# == by exact [0.5, True]
# -- accepted
import numpy as np
def f(x): return [np.float32(0.5), np.True_]

# == by exact np.int64(4)
# -- accepted
def f(x): return 4

# == by exact Counter({'a': 1})
# -- accepted
import collections
def f(x): return collections.Counter('a')

# == verification
return answer == 4
# -- accepted
answer(4)

# == verification
return answer == 4 and after['counts']['nuts'] == 7
# -- accepted
import numpy as np
put('nuts', 7)
answer(np.int64(4))

# == asserts
assert f(3) == (1, 2)

assert f(3).x == 1
# -- accepted
import collections
P = collections.namedtuple('P', 'x y')
def f(x): return P(1, 2)

# == asserts
assert f(3) == {1}

assert f(3) != {2}
# -- accepted
def f(x): return frozenset({1})

# == asserts
assert f(3) == b'a'
# -- accepted
def f(x): return bytearray(b'a')

# == asserts
assert f(3) == 's'

assert f(3) + 't' == 'st'

assert {'s': 1}[f(3)] == 1
# -- accepted
class S(str): pass
def f(x): return S('s')

# == asserts
assert f(3) == 4

assert [f(3)] == [4]
# -- accepted
class N(int):
    'A number.'
def f(x): return N(4)

# == asserts
assert f(3) == 4
# -- accepted
import numpy as np
def f(x): return np.int64(4)

# == asserts
assert f(0) == (1, 2)

assert f(1) == {1}

assert f(2) == b'a'

assert f(3) == 's'
# -- accepted
from collections import namedtuple
P = namedtuple('P', 'x y')
class S(str): pass
def f(k):
    return [P(1, 2), frozenset({1}), bytearray(b'a'), S('s')][k]

# == shared asserts
assert f(3) == Point(3, 4)
# -- accepted
import dataclasses
@dataclasses.dataclass
class Point:
    x: int
    y: int
def f(x): return Point(x, 4)

## The class of what is refused is in the evidence.

# == checker {'a': 1}
return all(actual[key] <= most for key, most in expected.items())
# -- refused: `Counter`
import collections
def f(x): return collections.Counter()

# == checker [1]
return len(actual) == len(expected) and sorted(actual) == sorted(expected)
# -- refused: `deque` at `[0]`
import collections
def f(x): return [collections.deque()]

# == by exact 4
# -- refused: Four
class Four(int): pass
def f(x): return Four(4)

# == verification
return True
# -- refused: Fraction
import fractions
answer(fractions.Fraction(1))

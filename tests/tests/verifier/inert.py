# Test code that changes nothing of its process, and code that could change it or look at it.
# -- inert
METADATA = {'author': 'a'}


def check(candidate):
    assert candidate([1, 2.5], x=3) == {'a': (1, None)}, 'no'
# -- inert
from typing import List
import math

def near(a, b=1.0, *rest, **more):
    return math.isclose(a, b) or type(a) is type(b)
# -- inert
from solution import f, LIMIT
def test_f():
    for x in range(10):
        assert sorted(f(x)) == [i * i for i in range(x)]
# -- inert
import random
for _ in range(9):
    xs = [random.randint(0, 9) for _ in range(5)]
    assert f(xs.copy()) == sum(xs)
# -- inert
try:
    f(-1)
except ValueError as error:
    assert error.args == ('negative',)
else:
    raise AssertionError(f'{1}')
# -- inert
x = {}
x['a'] = 1
x.update(b=2)
assert f(x) == x and 'a,b'.split(',') == list(x)
# -- inert
assert (lambda x: x if x else not x)(f(1)) is True
# -- not inert
import os
# -- not inert
from os import path
# -- not inert
import math as __builtins__
# -- not inert
from math import *
# -- not inert
from solution import *
# -- not inert
import solution
solution.x = 1
# -- not inert
from typing import get_type_hints
# -- not inert
from random import SystemRandom
# -- not inert
from . import math
# -- not inert
print(f(1))
# -- not inert
x = print
# -- not inert
open('a')
# -- not inert
exec('import os')
# -- not inert
eval('1')
# -- not inert
getattr(f, 'x')
# -- not inert
setattr(f, 'x', 1)
# -- not inert
vars(f)
# -- not inert
id(f)
# -- not inert
globals()['x'] = 1
# -- not inert
__import__('os')
# -- not inert
__builtins__ = {}
# -- not inert
f.x = 1
# -- not inert
f.__globals__
# -- not inert
[].__class__
# -- not inert
del f.x
# -- not inert
f.environ
# -- not inert
'{0.__class__}'.format(f)
# -- not inert
type('A', (), {})
# -- not inert
type(f)
# -- not inert
type(type(1))('A', (), {})
# -- not inert
import copy
# -- not inert
x = type
# -- not inert
type(*[1]) is int
# -- not inert
class A: pass
# -- not inert
import math
math.pi = 3
# -- not inert
with f(): pass
# -- not inert
@f
def g(): pass
# -- not inert
def g():
    global f
    f = 1
# -- not inert
def g():
    yield 1
# -- not inert
async def g(): pass
# -- not inert
def __getattr__(name): pass
# -- not inert
try: pass
except ValueError as __builtins__: pass
# -- not inert
match f:
    case _: pass
# -- not inert
def g[T](x: T): pass
# -- not inert
type X = int

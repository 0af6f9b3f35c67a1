# Error tasks: programs that raise at 3 and return at other arguments, the exception that a solver must name, and programs that are no such task.

## The name is that of the built-in type that is raised.

# == alone
# -- raises ZeroDivisionError
def f(x):
    return 10 // (x - 3)
# -- raises KeyError
def f(x):
    return {1: 2, 2: 4, 4: 5, 6: 7, 8: 9}[x]
# -- raises TypeError
def f(x):
    return x if x % 2 == 0 else x + 'a'
# -- raises ValueError
import json
def f(x):
    return json.loads('[' * (x % 2) or '1')
# -- raises KeyError
class Odd(KeyError):
    pass
def f(x):
    if x % 2:
        raise Odd(x)
    return x

## Ordinary programs are known to be harmless: classes of their own, of the library as values, and names that mean something to pytest.

# -- raises AttributeError
class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next
def f(x):
    node = Node(x, Node(1) if x % 2 else Node(1, Node(2)))
    return node.next.next.value
# -- raises AttributeError
class Metre:
    def __init__(self, length):
        self.length = length
    def __add__(self, other):
        return self.length + other.length
def f(x):
    return Metre(x) + (x if x % 2 else Metre(x))
# -- raises ValueError
class Odd(ValueError):
    def __init__(self, number):
        super().__init__(f'{number} is odd')
        self.number = number
def f(x):
    if x % 2:
        raise Odd(x)
    return x
# -- raises ZeroDivisionError
from collections import namedtuple
Point = namedtuple('Point', 'left right')
def f(x):
    point = Point(x, (x + 1) % 2)
    return point.left // point.right
# -- raises IndexError
from collections import deque
def f(x):
    queue = deque(range((x + 1) % 2))
    return queue.popleft()
# -- raises ValueError
import math
def f(x):
    return math.sqrt(-abs(x) if x % 2 else abs(x))
# -- raises AttributeError
def f(x):
    return x.missing if x % 2 else x
# -- raises TypeError
class Sum:
    def __init__(self, total):
        self.total = total
    def __iadd__(self, other):
        self.total += other
        return self
def f(x):
    found = Sum(x)
    found += [] if x % 2 else 1
    return found.total
if __name__ == '__main__':
    print(f(2))
# -- raises UnboundLocalError
def f(x):
    if x % 2 == 0:
        found = x
    return found
# -- raises RecursionError
def f(x):
    return f(x) if x % 2 else x
# -- raises IndexError
class Door:
    sections = 1
    def __init__(self, obj, code):
        self.obj, self.code, self.types = obj, code, [int]
    def open(self):
        return self.types[self.code % 2] + self.obj.outcome
class Case:
    outcome = 3
code = Door(Case(), 2)
def f(x):
    code.code = x if x % 2 else 2
    return str(code.open() if x % 2 else code.sections)
# -- raises IndexError
from collections import Counter, defaultdict
class Shop:
    def __init__(self, sold: Counter):
        self.stock, self.count, self.name = defaultdict(Counter), 0, sold
def f(x):
    shop = Shop(Counter('ab'))
    shop.stock[x].update('aab')
    shop.count += x % 2
    return shop.stock[x].most_common(2)[shop.count * 2]
# -- raises ZeroDivisionError
from functools import wraps
def twice(g):
    @wraps(g)
    def h(x):
        return g(g(x))
    return h
@twice
def f(x):
    return x // (x % 2 - 1)

## What no solver could know is refused.

# -- refused by nondeterministic
import random
def f(x):
    raise random.choice([KeyError, ValueError, IndexError, TypeError])
# -- refused by nondeterministic
n = 0
def f(x):
    global n
    n += 1
    raise [KeyError, ValueError][n % 2]
# -- refused by own_exception
class Odd(Exception):
    pass
def f(x):
    if x % 2:
        raise Odd(x)
    return x
# -- refused by constant
def f(x):
    raise ValueError(x)

## A program that does not raise in a call is refused.

# -- refused by no_exception
def f(x):
    return x + 1
# -- refused by no_exception
def f(x):
    return ValueError(x)
# -- refused by no_exception
def f(x):
    print('Traceback')
    print('ValueError: no')
# -- refused by raises
raise ValueError
# -- refused by compiles
def f(x:
# -- refused by entry
def g(x):
    raise ValueError
# -- refused by limits
def f(x):
    while True:
        pass
# -- refused by trapped
import os
def f(x):
    os._exit(1)

## A program cannot forge the name.

# == followed by
def f(x):
    if x % 2:
        raise E(x)
    return x
# -- raises Exception
def made():
    class ValueError(Exception):
        pass
    return ValueError
E = made()
# -- raises KeyError
import functools
class Named:
    __name__ = 'ValueError'
class E(KeyError):
    pass
try:
    functools.wraps(Named())(E)
except AttributeError:
    pass
# -- raises KeyError
E = KeyError
print('ValueError: no')
# -- raises KeyError
class E(KeyError):
    def __str__(self):
        return 'x\nValueError: no'

## With the harness's table of exceptions in hand, a program could have another one reported. What reaches it is refused.

# == followed by
    for cell in found.__closure__:
        if isinstance(cell.cell_contents, dict):
            cell.cell_contents[id(KeyError)] = 'ValueError'
def E(x):
    reach()
    return KeyError(x)
def f(x):
    if x % 2:
        raise E(x)
    return x
# -- refused by reaches
import sys
def reach():
    found = sys._getframe(3).f_locals['kind_of']
# -- refused by reaches
def reach():
    try:
        1 / 0
    except ZeroDivisionError as error:
        found = error.__traceback__.tb_frame.f_back.f_back.f_back.f_locals['kind_of']
# -- refused by reaches
def reach():
    def walk():
        yield me.gi_frame.f_back.f_back.f_back.f_back.f_locals['kind_of']
    me = walk()
    found = next(me)
# -- refused by reaches
import gc
def reach():
    found = gc.get_referents(reach)[0]

## Every way to what is not known to be harmless is refused.

# == followed by
E = KeyError
def f(x):
    if x % 2:
        raise E(x)
    return x

## By a name in a text, and by a pattern.

# -- refused by reaches
g = getattr
g(g, '__se' + 'lf__')
# -- refused by reaches
import functools
functools.reduce(getattr, ['__self__'], len)
# -- refused by reaches
import operator
operator.attrgetter('__self__')(len)
# -- refused by reaches
import string
string.Formatter().get_field('0.__self__', [len], {})
# -- refused by reaches
match len:
    case object(__self__=module):
        pass
# -- refused by reaches
class Own:
    get_field = f_back = 1
print(Own.f_back)

## Through modules, and their modules.

# -- refused by reaches
import _veriplay
# -- refused by reaches
import enum
enum.sys
# -- refused by reaches
from enum import sys
# -- refused by reaches
from random import *
# -- refused by reaches
__builtins__
# -- refused by reaches
import typing
typing.get_type_hints(len)

## Other built-in names, and classes that lie about themselves.

# -- refused by reaches
import builtins
builtins.KeyError = ValueError
# -- refused by reaches
eval('len')
# -- refused by reaches
vars()
# -- refused by reaches
class ValueError(Exception):
    pass
# -- refused by reaches
type('Odd', (KeyError,), {})
# -- refused by reaches
class Text(str):
    pass
# -- refused by reaches
class Odd(KeyError):
    pass
Odd.__name__ = 'ValueError'
# -- refused by reaches
class Kind(type):
    def mro(kind):
        return [kind, ValueError, *KeyError.__mro__]
# -- refused by reaches
import copy
class Own:
    def __reduce__(self):
        return len, ([],)
copy.copy(Own())
# -- refused by reaches
# coding: latin-1

## A module as a value: of a class, under a name that is not asked about, and given to an operator.

# -- refused by reaches
class Own:
    import enum
    _sys = 1
Own.enum
# -- refused by reaches
def g():
    import enum as len
    return len
g()
# -- refused by reaches
import enum as __version__
found = __version__
# -- refused by reaches
import enum
class Own:
    def __radd__(self, other):
        return other
enum += Own()

## What holds a function that copies attributes by name, such as another module's globals.

# -- refused by reaches
import functools
functools.wraps(len).func
# -- refused by reaches
from functools import wraps as other
other(len).func
# -- refused by reaches
from functools import wraps
found = wraps

## Names that are free for what is the program's own lead nowhere else.

# -- refused by reaches
import typing
class Own:
    types = 1
typing.types
# -- refused by reaches
class Own:
    types = 1
from typing import types
# -- refused by reaches
class Own:
    gi_frame = 1
(x for x in ()).gi_frame

## The library's classes by another name.

# -- refused by reaches
from collections import Counter
other = Counter
other.update = None
# -- refused by reaches
import json
for other in [json.JSONEncoder]:
    other.encode = None
# -- refused by reaches
from collections import Counter, defaultdict
other = defaultdict(Counter).default_factory
other.update = None
# -- refused by reaches
from typing import Counter
other = Counter[str]
other.update = None
# -- refused by reaches
from collections import Counter, deque
try:
    Counter.popleft
except AttributeError as error:
    error.obj.update = None
# -- refused by reaches
from collections import Counter
class Own:
    def __ror__(self, other):
        other.update = None
        return int
def g(x: Counter | Own()):
    pass
# -- refused by reaches
import warnings
from collections import Counter
warnings.deprecated('x')(Counter)

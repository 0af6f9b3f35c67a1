# Programs as proposals and as answers. `f(3) = 6`: at 3 it is a valid proposal, whose executed output is 6; `is taken` leaves the output open.
# `f(3) is refused by raises`: it is none, by that rule or one of those. `answer runtime_error`: so it ends as an answer where 4 is wanted at 3 and
# 5 at 4, and passes neither; behind it ` 1/2` says that it passes one.

## What another run would change is refused: it has a fresh state, another seed and another clock.

# -- f(3) is refused by nondeterministic
import random
def f(x):
    return random.randint(0, 10 ** 9) + x
# -- f(3) is refused by nondeterministic
import random
k = random.random()
def f(x):
    return x + k
# -- f(3) is refused by nondeterministic
import random
def f(x):
    y = list(range(x + 20))
    random.shuffle(y)
    return y
# -- f(3) is refused by nondeterministic
import os
def f(x):
    return os.urandom(8)
# -- f(3) is refused by nondeterministic
import secrets
def f(x):
    return secrets.randbelow(10 ** 9)
# -- f(3) is refused by nondeterministic
import uuid
def f(x):
    return str(uuid.uuid4())
# -- f(3) is refused by nondeterministic
import time
def f(x):
    return time.time()
# -- f(3) is refused by nondeterministic
import datetime
def f(x):
    return str(datetime.datetime.now())
# -- f(3) is refused by nondeterministic
import tempfile
def f(x):
    return tempfile.mktemp()
# -- f(3) is refused by nondeterministic
import random
def f(x):
    random.seed()
    return random.random()
# -- f(3) = 30
import random
def f(x):
    return random.Random(x).randint(0, 99)

## Addresses and facts of the process are no outputs worth asking.

# -- f(3) is refused by nondeterministic or constant or raises or output_length
def f(x):
    return str(object())
# -- f(3) is refused by nondeterministic or constant or raises or output_length
def f(x):
    return id([x])
# -- f(3) is refused by nondeterministic or constant or raises or output_length
import os
def f(x):
    return os.getpid()
# -- f(3) is refused by nondeterministic or constant or raises or output_length
keep = []
def f(x):
    keep.append([x])
    return id(keep[-1])

## What hangs on addresses is refused even where the input counts. The modulus is large: by 97 one in a hundred addresses gives what the other one
## gives, and each image has others.

# -- f(5) is refused by nondeterministic
def f(x):
    return id(x) % 99_991 + x
# -- f(5) is refused by nondeterministic
def f(x):
    return id(None) % 99_991 + x
# -- f(5) is refused by nondeterministic
def f(x):
    return str(object())[-5:] + str(x)
# -- f(5) is refused by nondeterministic
def f(x):
    return repr(lambda: x)[-9:-1] + str(x)
# -- f(5) is refused by nondeterministic
def f(x):
    return hash(object()) % 99_991 + x
# -- f(5) is refused by nondeterministic
def f(x):
    return hash(f) % 99_991 + x
# -- f(5) is refused by nondeterministic
def f(x):
    return hash('a' + str(x)) % 99_991
# -- f(5) is refused by nondeterministic
def f(x):
    return hash(int) % 99_991 + x

## These hang on values alone.

# -- f(5) = [False, True, 25]
def f(x):
    y = [x]
    return [id(y) == id([x]), id(y) == id(y), x * x]
# -- f(5) = 8
def f(x):
    return 2 * hash(x) + hash(-1)
# -- f(5) = 25
class P:
    def __init__(self, x):
        self.x = x
    def __hash__(self):
        return self.x
def f(x):
    return hash(P(x)) * x
# -- f(5) = [[5, 6], [5, 6]]
import copy
def f(x):
    y = [x, x + 1]
    return copy.deepcopy([y, y])

## Hashes that Python makes of numbers alone are outputs.

# -- f(5) is taken
def f(x):
    return hash((1, 2)) * x
# -- f(5) is taken
def f(x):
    return hash((1, x))
# -- f(5) is taken
def f(x):
    return hash((1, (x, 2.5)))
# -- f(5) is taken
def f(x):
    return hash(x + 2 ** 61)
# -- f(5) is taken
def f(x):
    return hash(x + 0.5)
# -- f(5) is taken
def f(x):
    return hash(x > 3) + x
# -- f(5) is taken
def f(x):
    return hash(frozenset({x, 1000}))
# -- f(5) is taken
def f(x):
    return hash(range(x))
# -- f(5) is taken
def f(x):
    return hash(complex(x, 1))
# -- f(5) is taken
from fractions import Fraction
def f(x):
    return hash(Fraction(x, 7))
# -- f(5) is taken
from decimal import Decimal
def f(x):
    return hash(Decimal(x) / 8)
# -- f(5) is taken
from collections import namedtuple
Point = namedtuple('Point', 'a b')
def f(x):
    return hash(Point(x, 2))
# -- f(5) is taken
def f(x):
    return hash(None) + x
# -- f(5) is taken
def f(x):
    return {hash((x, 1)): x, hash((1, x)): 1}
# -- f(5) is taken
class Named:
    def __init__(self, x):
        self.x = x
    def __hash__(self):
        return hash((self.x, 1))
def f(x):
    return hash(Named(x)) + x
# -- f(5) is taken
def f(x):
    return (hash('a') == hash('a'), hash('a') == hash('b'), x)
# -- f(5) is taken
class Text(str):
    def __hash__(self):
        return hash(str(self))
def f(x):
    return [{Text('a'): x, Text('b'): 2}[Text('a')], x * x]

## Files carry nothing from run to run.

# -- f(3) is refused by raises
def f(x):
    return open('/etc/passwd').read()
# -- f(3) = 'ababab'
def f(x):
    open('a', 'w').write('ab' * x)
    return open('a').read()

## NaN equals itself.

# -- f(3) = [nan, 4]
def f(x):
    return [float('nan'), x + 1]
# -- f(3) = inf
def f(x):
    return float('inf') if x == 3 else float(x * x)

## The identity of objects does not matter where values do not change: `!=` on a fresh instance of a class is always true; the value inside is the
## same.

# -- f(3) = {'x': 6}
class P:
    def __init__(self, x):
        self.x = x
def f(x):
    return vars(P(x * 2))
# -- f(3) is refused by unencodable
class P:
    pass
def f(x):
    return P()

## An output that depends on the calls before is refused, and a cache that changes no output is fine.

# -- f(3) is refused by nondeterministic
n = 0
def f(x):
    global n
    n += 1
    return n
# -- f(3) is refused by nondeterministic
n = 0
def f(x):
    global n
    n += 1
    return 7 if n == 1 else x
# -- f(3) is refused by nondeterministic
seen = {}
def f(x):
    return seen.setdefault(x, len(seen))
# -- f(3) is refused by nondeterministic
def f(x, seen=[]):
    seen.append(x)
    return len(seen)
# -- f(3) is refused by nondeterministic
def f(x):
    f.n = getattr(f, 'n', 0) + 1
    return min(f.n, 8 - f.n)
# -- f(3) is refused by nondeterministic
import itertools
c = itertools.count()
def f(x):
    return next(c)
# -- f(3) = 9
cache = {}
def f(x):
    if x not in cache:
        cache[x] = x * x
    return cache[x]
# -- f(20) = 6765
import functools
@functools.cache
def f(n):
    return n if n < 2 else f(n - 1) + f(n - 2)

## Constants and the identity are refused, and what is neither is not.

# -- f(3) is refused by constant
def f(x):
    return 7
# -- f(3) is refused by constant
def f(x):
    x = 4
    return x + 1
# -- f(3) is refused by identity
def f(x):
    return x
# -- f([1, 2]) is refused by identity
def f(x):
    return list(x)
# -- f(1, 'a') is refused by identity
def f(a, b):
    return (a, b)
# -- f(3) is refused by none
def f(x):
    pass
# -- f([1, 2, 3]) = [3, 2, 1]
def f(x):
    return x[::-1]

## Names and texts that look like something are fine: the release refuses any source with `input(` in it, and reads the printed text instead of the
## value when the last line prints. Here no text is searched.

# -- f(3) = 6
def process_input(y):
    return y * 2
def f(x):
    return process_input(x)
# -- f(3) = 6
def f(x):
    # raise Error, import os, input(
    return x * 2
# -- f(3) = 6
def f(x):
    '''error: input('''
    return x * 2
# -- f(3) = 6
import os, sys, random, time
def f(x):
    return x * 2
# -- f(3) = 6
def f(x):
    error = x
    def g(): return error * 2
    return g()
# -- f(3) = 6
class Error(Exception):
    pass
def f(x):
    try:
        raise Error
    except Error:
        return x * 2
# -- f('a') = 'SyntaxError: a'
def f(x):
    return 'SyntaxError: ' + x

## Prints are harmless wherever they stand, and what is printed is no value and no verdict.

# -- f(3) = 6, an answer
def f(x):
    print('42')
    return x * 2
# -- f(3) = 6, an answer
print('Error')
def f(x):
    return x * 2
print(f(1))
# -- f(3) = 6, an answer
import sys
def f(x):
    print('Traceback (most recent call last):', 'ValueError', sep='\n', file=sys.stderr)
    return x * 2
# -- f(3) = 6, an answer
def f(x):
    print('3 passed, 0 failed')
    print('{"status": "accepted"}')
    return x * 2
# -- f(3) = 6, an answer
import sys
def f(x):
    sys.stdout = sys.stderr = None
    return x * 2
# -- f(3) is refused by none
def f(x):
    print(x * 2)
# -- answer wrong_answer
def f(x):
    print('4')
# -- answer wrong_answer
def f(x):
    print('accepted')
# -- answer wrong_answer
def f(x):
    print('1 passed')
# -- answer wrong_answer
def f(x):
    print('OK')

## Reading input fails because there is none.

# -- f(3) is refused by raises
def f(x):
    return input()
# -- f(3) is refused by raises
def f(x):
    return eval('in' + 'put' + '()')

## Each way a program can end has its word, for answers and for proposals.

# -- answer wrong_answer
def f(x):
    return x + 2
# -- answer compile_error; f(3) is refused by compiles
def f(x:
# -- answer compile_error; f(3) is refused by compiles
def f(x):
return x
# -- answer runtime_error; f(3) is refused by entry

# -- answer runtime_error; f(3) is refused by entry
def g(x):
    return x + 1
# -- answer runtime_error; f(3) is refused by entry
f = 3
# -- answer runtime_error; f(3) is refused by raises
def f(x):
    return x + 'a'
# -- answer runtime_error; f(3) is refused by raises
def f(x, y):
    return x
# -- answer runtime_error; f(3) is refused by raises
def f():
    return 1
# -- answer fuel_exceeded; f(3) is refused by limits
def f(x):
    while True: pass
# -- answer fuel_exceeded; f(3) is refused by limits
def f(x):
    while True:
        try:
            while True: pass
        except BaseException: pass
# -- answer output_exceeded; f(3) is refused by limits
def f(x):
    return 'a' * 3_000_000
# -- answer output_exceeded; f(3) is refused by limits
def f(x):
    return open('a', 'w').write('a' * 3_000_000)

## Objects that equal everything equal nothing.

# -- answer refused; f(3) is refused by unencodable or raises
class Liar:
    __eq__ = lambda s, o: True
    __ne__ = lambda s, o: False
    __hash__ = None
def f(x):
    return Liar()
# -- answer refused; f(3) is refused by unencodable or raises
class Liar(int):
    __eq__ = lambda s, o: True
    __hash__ = int.__hash__
def f(x):
    return Liar(0)
# -- answer refused; f(3) is refused by unencodable or raises
class Liar(str):
    __eq__ = lambda s, o: True
    __hash__ = str.__hash__
def f(x):
    return Liar()
# -- answer refused; f(3) is refused by unencodable or raises
class Liar(list):
    __eq__ = lambda s, o: True
def f(x):
    return [Liar()]
# -- answer refused; f(3) is refused by unencodable or raises
class Liar(dict):
    __eq__ = lambda s, o: True
def f(x):
    return Liar()
# -- answer refused; f(3) is refused by unencodable or raises
class Liar(float):
    __eq__ = lambda s, o: True
    __hash__ = None
def f(x):
    return Liar()
# -- answer refused; f(3) is refused by unencodable or raises
class Liar(tuple):
    __eq__ = lambda s, o: True
def f(x):
    return {1: Liar()}
# -- answer refused; f(3) is refused by unencodable or raises
class Liar:
    __class__ = int
    __index__ = lambda s: 0
    __int__ = lambda s: 0
def f(x):
    return Liar()
# -- answer refused; f(3) is refused by unencodable or raises
def f(x):
    return f
# -- answer refused; f(3) is refused by unencodable or raises
def f(x):
    return (y for y in [x + 1])
# -- answer refused; f(3) is refused by unencodable or raises
def f(x):
    return NotImplemented
# -- answer refused; f(3) is refused by unencodable or raises
def f(x):
    return ...
# -- answer refused; f(3) is refused by unencodable or raises
def f(x):
    return {}.keys()

## Patching the interpreter changes no verdict.

# -- answer refused
import builtins
builtins.type = lambda v: int
def f(x):
    return x + 2
# -- answer refused
import builtins
builtins.len = lambda v: 0
builtins.isinstance = lambda a, b: True
def f(x):
    return x + 2
# -- answer refused
import sys
for name in list(sys.modules):
    if name not in ('sys', '__main__'): del sys.modules[name]
def f(x):
    return x + 2
# -- answer refused
import struct
struct.Struct = None
struct.pack = lambda *a: b''
def f(x):
    return x + 2
# -- answer refused
import __main__
for name in list(vars(__main__)):
    if 'veriplay' in name: setattr(__main__, name, None)
def f(x):
    return x + 2
# -- answer refused
import sys
sys.exit = sys.stdout = sys.stderr = None
def f(x):
    return x + 2
# -- answer refused
int.__eq__ if False else None
def f(x):
    return x + 2

## A program that speaks to the host itself gains nothing: it may say what it returned, and saying too much ends it.

# -- answer not accepted
import _host
_host.call(b'D')
def f(x):
    return 0
# -- answer not accepted
import _host
_host.call(b'J')
def f(x):
    return 0
# -- answer not accepted
import _host
_host.call(b'VT')
_host.call(b'D')
def f(x):
    return 0
# -- answer not accepted
import _host
_host.call(b'Vi\x01\0\0\0\x04')
import os
os._exit(0)
def f(x):
    return 0
# -- answer not accepted
import _host
_host.call(b'Accepted')
def f(x):
    return 0

## No bit of a hash or of an address is the same in both runs.

# -- f('abc') is refused by nondeterministic
def f(x):
    return hash(x) % 2
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash(x) & 1
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash(x) % 3
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash(x) % 10
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash(x) % 16
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash(x) >> 3 & 1
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash(x) >> 17 & 1
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash(x) < 0
# -- f('abc') is refused by nondeterministic
def f(x):
    return bool(hash(x) & 8)
# -- f('abc') is refused by nondeterministic
def f(x):
    return abs(hash(x)) % 2
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash(x.encode()) % 2
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash((1, x)) % 2
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash((x, (x, 2))) & 1
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash(frozenset({x})) % 2
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash(object()) % 2 + len(x)
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash(int) & 1 or x
# -- f('abc') is refused by nondeterministic
def f(x):
    return hash('salt') % 2 * len(x)
# -- f('abc') is refused by nondeterministic
def f(x):
    return [hash(c) % 2 for c in x]
# -- f('abc') is refused by nondeterministic
def f(x):
    return id(x) >> 3 & 1
# -- f('abc') is refused by nondeterministic
def f(x):
    return id(None) >> 4 & 1 or x
# -- f('abc') is refused by nondeterministic
def f(x):
    return id(x) % 64
# -- f('abc') is refused by nondeterministic
def f(x):
    return id([x]) >> 6 & 1

## The order of a set of strings is one for all jobs, so that no output goes stale. The release stores such an output and judges answers in another
## process, where the order is another. Here the hash seed belongs to the image: every job on it agrees, whatever its own seed.

# -- f('asdfgh') is taken, an answer
def f(x):
    return list(set(x + 'qwertyuiop'))

## Sets equal themselves in any order.

# -- f('abc') = {'a', 'b', 'c', 'z'}, an answer
def f(x):
    return set(x + 'zz')

## A file that a program writes is there for its next call, which is refused, and gone for the next job: the first call is right.

# -- f(3) is refused by nondeterministic; answer wrong_answer 1/2
def f(x):
    try:
        n = int(open('count').read())
    except FileNotFoundError:
        n = 0
    open('count', 'w').write(str(n + 1))
    return n * 100 + x + 1

## A program that raises is no proposal and no answer, whatever it raises. The release calls a run failed when its last line contains "error", and
## in these no "error" is seen. What the next call returns counts.

# -- f(3) is refused by raises; answer runtime_error 1/2
def f(x):
    if x == 3: raise Exception('Non-deterministic code')
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
def f(x):
    if x == 3: raise Exception
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
def f(x):
    if x == 3: raise StopIteration
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
def f(x):
    if x == 3: raise StopIteration('1')
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
def f(x):
    if x == 3: raise KeyboardInterrupt
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
def f(x):
    if x == 3: raise GeneratorExit
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
def f(x):
    if x == 3: raise SystemExit
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
def f(x):
    if x == 3: raise SystemExit(0)
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
def f(x):
    if x == 3: import sys; sys.exit(0)
    return x + 1
## It closes the streams as well, which may end the interpreter: a failure by another name.
# -- f(3) is refused by raises or trapped; answer runtime_error 1/2
def f(x):
    if x == 3: exit(0)
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
def f(x):
    if x == 3: raise Warning('fine')
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
class Done(BaseException):
    pass
def f(x):
    if x == 3: raise Done
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
class Done(BaseException):
    pass
def f(x):
    if x == 3: raise Done('first line\nValueError: no\nall is well')
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
def f(x):
    if x == 3: raise type('', (Exception,), {})
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
def f(x):
    if x == 3: next(iter([]))
    return x + 1
# -- f(3) is refused by raises; answer runtime_error 1/2
def f(x):
    if x == 3: assert x < 0
    return x + 1
# -- f(3) = 4
def f(x):
    if x == 9: raise StopIteration
    return x + 1

## A module that raises before its function is called is no program.

# -- f(3) is refused by raises; answer runtime_error
def f(x):
    return x + 1
raise StopIteration
# -- f(3) is refused by raises; answer runtime_error
def f(x):
    return x + 1
raise SystemExit(0)
# -- f(3) is refused by raises; answer runtime_error
def f(x):
    return x + 1
raise Exception('all is well')
# -- f(3) is refused by raises; answer runtime_error
def f(x):
    return x + 1
import no_such_module

## A process that ends itself has not succeeded. What it returned before counts.

# -- f(4) is refused by trapped; answer runtime_error 1/2
def f(x):
    if x == 4: import os; os._exit(0)
    return x + 1
# -- f(4) is refused by trapped; answer runtime_error 1/2
def f(x):
    if x == 4: import os; os.abort()
    return x + 1

## A memory bomb is an error of the program, or it has met its limit.

# -- answer memory_exceeded or runtime_error
def f(x):
    return len(bytearray(10 ** 9))

## Whatever a program does is a verdict on it, and no fault of the host: dropped would be a way out.

# -- answer not accepted
import os
def f(x):
    os._exit(3)
# -- answer not accepted
import os
def f(x):
    os.abort()
# -- answer not accepted
import _host
def f(x):
    _host.call(b'')
# -- answer not accepted
import _host
def f(x):
    _host.call(b'?' * 100000)
# -- answer not accepted
import sys
sys.setrecursionlimit(10 ** 9)
def f(x):
    return f(x)
# -- answer not accepted
def f(x):
    y = []
    for _ in range(200000): y = [y]
    return y
# -- answer not accepted
def f(x):
    while True: pass
# -- answer not accepted
def f(x):
    return ' ' * (10 ** 12)
# -- answer not accepted
def f(x):
    y = [x]
    y.append(y)
    return y
# -- answer not accepted
import sys, gc
gc.disable()
def f(x):
    sys.settrace(lambda *a: 1 / 0)
    return x
# -- answer not accepted
def f(x):
    return '\ud800'

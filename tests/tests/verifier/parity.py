# Where interpreters differ first: numbers, text, errors, hashing, ordering, the parts of the library in C.
# -- program
print(2 ** 200, -7 // 2, -7 % 3, divmod(-7, 2), round(2.5), round(-0.5), 1e16, 1e-5, 0.1 + 0.2, 1 / 3)
# -- program
print(float('nan'), float('-inf'), -0.0, 1e308 * 10, 5e-324, 3.0, 1e22, 123456789.123456789)
# -- program
import math
print(math.sin(1), math.exp(1), math.gamma(5.5), math.fsum([.1] * 10), math.isqrt(10 ** 20), math.pi)
# -- program
print('é'.encode(), 'ß'.upper(), 'İ'.lower(), '\u00e9'.casefold(), ascii('日本'), 'a\tb'.expandtabs(), '%5.2f|%-4s|%x' % (1.5, 'a', 255))
# -- program
print(sorted({'b': 1, 'a': 2}.items()), {3, 1, 2}, frozenset([1]), sorted({'x', 'y', 'z'}), hash(7), hash(True))
# -- program
print(1 // 0)
# -- program
print([][1])
# -- program
print({}['k'])
# -- program
int('x')
# -- program
assert 1 == 2, 'no'
# -- program
import re
print(re.findall(r'(\w)(\d+)', 'a1 b22 c333'), re.sub('(?P<x>.)', r'<\g<x>>', 'ab'))
# -- program
import json
print(json.dumps({'a': [1, 2.5, None, True, 'é']}), json.loads('{"b": 1e3}'))
# -- program
import itertools, functools, collections
print(list(itertools.permutations('abc', 2)), functools.reduce(lambda a, b: a * b, range(1, 9)), collections.Counter('banana').most_common())
# -- program
import random
random.seed(7)
print(random.random(), random.randint(1, 100), random.sample(range(50), 5), random.shuffle(x := [1, 2, 3]), x)
# -- program
import decimal, fractions, statistics
print(decimal.Decimal('1.1') ** 20, fractions.Fraction(1, 3) + 1, statistics.stdev([1, 2, 4]))
# -- program
import datetime, hashlib, base64, struct, bisect, heapq
print(datetime.date(2024, 2, 29) + datetime.timedelta(days=366), hashlib.sha256(b'x').hexdigest(), base64.b64encode(b'abc'), struct.pack('<if', 1, 2.5), bisect.bisect([1, 3], 2), heapq.nsmallest(2, [3, 1, 2]))
# -- program
from dataclasses import dataclass
@dataclass(order=True)
class P:
    x: int
    y: str = 'a'
print(P(1), P(1) < P(2), sorted([P(2), P(1, 'b')]))
# -- program
def g():
    try:
        yield 1
    finally:
        print('closed')
for x in g():
    print(x)
    break
# -- program
match {'k': [1, 2, 3]}:
    case {'k': [a, *rest]}:
        print(a, rest)
# -- program
try:
    raise ExceptionGroup('g', [ValueError(1), TypeError(2)])
except* ValueError as e:
    print(e.exceptions)
except* TypeError as e:
    print(len(e.exceptions))

# Judges on cases with several right outputs, with files, and with a checker that is a script.

## Any of the alternatives is right.

# == {"stdio": {"cases": [{"stdin": "", "stdout": "1 2\n", "alternatives": ["2 1\n"]}], "comparison": {"judge": "lines"}}}
# -- accepted
print(1, 2)
# -- accepted
print(2, 1)
# -- wrong_answer: 1 2
print(2, 2)
# == {"calls": {"function": "f", "cases": [{"input": ["4"], "expected": "2", "alternatives": ["-2"]}], "comparison": {"judge": "exact"}}}
# -- accepted
def f(x): return 2
# -- accepted
def f(x): return -2
# -- wrong_answer
def f(x): return 4

## A case may be read from files and written to files. What a program prints beside them is nobody's business, unless the case says what it must
## be. A file that is still open when the script ends is written, as CPython does it.

# == {"stdio": {"cases": [{"files": {"input.txt": "2 3\n"}, "expected_files": {"output.txt": "5\n"}}], "comparison": {"judge": "lines"}}}
# -- accepted
with open('input.txt') as f:
    a, b = map(int, f.read().split())
with open('output.txt', 'w') as f:
    print(a + b, file=f)
print('debug')
# -- wrong_answer: `output.txt`
with open('input.txt') as f:
    a, b = map(int, f.read().split())
with open('output.txt', 'w') as f:
    print(a * b, file=f)
# -- wrong_answer: no file `output.txt`
print(5)
# -- accepted
f = open('output.txt', 'w')
print(5, file=f)
# -- wrong_answer
f = open('output.txt', 'w')
print(6, file=f)
# -- accepted
import sys
sys.stdout = open('output.txt', 'w')
print(5)
# -- wrong_answer
import sys
sys.stdout = open('output.txt', 'w')
print(6)
# -- accepted
import os
f = os.fdopen(os.open('output.txt', os.O_WRONLY | os.O_CREAT), 'wb')
f.write(b'5')
exit()
# -- wrong_answer
import os
f = os.fdopen(os.open('output.txt', os.O_WRONLY | os.O_CREAT), 'wb')
f.write(b'6')
exit()
# -- accepted
import sys
sys.stdin = open('input.txt')
out = open('output.txt', 'w')
out.write(str(sum(map(int, input().split()))))
# -- wrong_answer
import sys
sys.stdin = open('input.txt')
out = open('output.txt', 'w')
out.write(str(max(map(int, input().split()))))
# == {"stdio": {"cases": [{"stdin": "2\n", "stdout": "done\n", "expected_files": {"a/b.txt": "2"}}], "comparison": {"judge": "tokens"}}}
# -- accepted
import os
os.mkdir('a')
open('a/b.txt', 'w').write(input())
print('done')
# -- wrong_answer
import os
os.mkdir('a')
open('a/b.txt', 'w').write(input())
print('no')

## A script checks by three files. Its status says what it decides, and so does a score that it prints before.

# == script
import sys
def main(input_path, expected_path, actual_path):
    total = int(open(input_path).read())
    try:
        a, b = map(int, open(actual_path).read().split())
    except ValueError:
        print(0)
        return
    open(expected_path).read()
    print(1 if a + b == total else 0)
if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3])
# -- accepted
print(3, 7)
# -- accepted
print(6, 4)
# -- wrong_answer
print(6, 5)
# -- wrong_answer
print('ten')
# -- wrong_answer
print(1)
# -- runtime_error
1 / 0
# == script
from __future__ import annotations
import sys
a, b = map(int, open(sys.argv[3]).read().split())
print(1 if a + b == int(open(sys.argv[1]).read()) else 0)
sys.exit(0)
# -- accepted
print(5, 5)
# == script
import sys
a, b = map(int, open(sys.argv[3]).read().split())
print(1 if a + b == int(open(sys.argv[1]).read()) else 0)
sys.exit(3)
# -- accepted
print(5, 5)
# -- wrong_answer
print(5, 6)
# == script
import sys
a = open(sys.argv[3]).read().split()
print('OK')
if a != ['3', '7']: sys.exit('wrong')
# -- accepted
print(3, 7)
# -- wrong_answer
print(7, 7)

## What a script repeats of an output, before its verdict or in it, is no score.

# == script
import sys
def main(input_path, expected_path, actual_path):
    print(open(actual_path).read())
    total = int(open(input_path).read())
    try:
        a, b = map(int, open(actual_path).read().split())
    except ValueError:
        print(0)
        return
    print(1 if a + b == total else 0)
main(sys.argv[1], sys.argv[2], sys.argv[3])
# -- refused
print(1)
# -- refused
print('1\n1')
# -- refused
print('ok')
# -- refused
print(6, 5)
# == script
import sys
def main(input_path, expected_path, actual_path):
    total = int(open(input_path).read())
    try:
        a, b = map(int, open(actual_path).read().split())
    except ValueError:
        print(open(actual_path).read().strip() + ' is wrong')
        return
    print(1 if a + b == total else 0)
main(sys.argv[1], sys.argv[2], sys.argv[3])
# -- wrong_answer
print(1)
# -- wrong_answer
print('1 ok')
# -- wrong_answer
print('ok')

## A part of the score is wrong, and a script that refuses the expected output is broken.

# == script
import sys
a = open(sys.argv[3]).read().split()
print(100 if a == ['3', '7'] else 50 if '3' in a else 0)
# -- accepted
print(3, 7)
# -- wrong_answer
print(3)
# -- wrong_answer
print(2)
# == script
import sys
raise ValueError('it cannot tell')
# -- unjudgeable by reference
print(3, 7)
# == script
import sys
print(1 if open(sys.argv[3]).read() == 'magic\n' else 0)
# -- unjudgeable
print('magic')
# == script
import sys
print(1 if int(open(sys.argv[3]).read().split()[1]) else 0)
# -- wrong_answer
print('x')

## Values of NeMo Gym are numbers up to rounding.

# == by nemo_gym [1, 2]
# -- accepted
def f(_): return (1, 2)
# == by nemo_gym 0.1
# -- accepted
def f(_): return 0.1000001
# -- wrong_answer
def f(_): return 0.2
# == by nemo_gym [0.1, 2]
# -- accepted
def f(_): return [0.1000001, 2]
# -- wrong_answer
def f(_): return [0.1000001, 3]
# == by nemo_gym {'1': [2]}
# -- accepted
def f(_): return {1: (2,)}
# == by nemo_gym 50000000000000000
# -- wrong_answer
def f(_): return 50000000000000001
# == by nemo_gym inf
# -- accepted
def f(_): return float('inf')
# -- wrong_answer
def f(_): return 0.5
# == by nemo_gym [inf, 0]
# -- wrong_answer
def f(_): return [-float('inf'), 0]
# == by nemo_gym {'1': 'a', 1: 'a', 2: 'b'}
# -- wrong_answer
def f(_): return {'1': 'a', '2': 'b', '3': 'c'}
# == by nemo_gym '1.0'
# -- wrong_answer
def f(_): return '1.00'

## A class that the program patched changes nothing of what its objects are.

# == by exact Counter({'a': 2})
# -- accepted
from collections import Counter
x = Counter({'a': 2})
def boom(*a): raise SystemExit
for name in ('__len__', '__iter__', 'items', 'keys', '__getitem__', '__eq__', '__hash__', '__init__'): setattr(Counter, name, boom)
def f(_): return x
# -- wrong_answer
from collections import Counter
x = Counter({'a': 1})
Counter.__eq__ = lambda *a: True
def f(_): return x
# == by exact Fraction(1, 2)
# -- accepted
from fractions import Fraction
x = Fraction(1, 2)
Fraction._numerator = Fraction.numerator = Fraction.__eq__ = property(lambda s: 9)
def f(_): return x
# -- wrong_answer
from fractions import Fraction
x = Fraction(1, 3)
Fraction._numerator = Fraction.numerator = Fraction.__eq__ = property(lambda s: 9)
def f(_): return x
# == by exact Decimal('1.5')
# -- accepted
from decimal import Decimal
x = Decimal('1.5')
Decimal._int = Decimal.__str__ = Decimal.as_tuple = lambda *a: 'x'
def f(_): return x
# -- wrong_answer
from decimal import Decimal
x = Decimal('2.5')
Decimal._int = Decimal.__str__ = Decimal.as_tuple = lambda *a: 'x'
def f(_): return x

## A script that leaves early is judged by what it has written, and another status is an error.

# == {"stdio": {"cases": [{"stdin": "", "stdout": "5\n"}], "comparison": {"judge": "lines"}}}
# -- wrong_answer
import os
print(5)
os._exit(0)
# -- runtime_error
import os
print(5, flush=True)
os._exit(3)
# -- runtime_error
import os
print(5, flush=True)
os.abort()
# -- runtime_error
print(5, flush=True)
raise SystemExit(3)
# -- runtime_error
import threading
print(5)
threading.Event().wait()

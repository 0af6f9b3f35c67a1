# Test code that is a list of cases, which is read and not run: its verdicts are those of the test runner.

# Below `# == cases` stand lines of assertions, a function `check`, or both: each of them judges. Below `# == claims` each line is two test codes of
# its own, as an assertion and in a function `check`. A claim begins with `one job`, where cases alone judge, or with `alike`, where the test runner
# may have to; behind it stand the claims on the verdict of each.

## Cases of both styles.

# == cases
assert f(3) == 9, 'three'
assert f(2) != 5
assert f(1)
assert not f(0)
assert f(5) is not None
def check(candidate):
    assert candidate(3) == 9, 'three'
    assert True
    assert candidate(0) == 0
# -- one job: accepted 5/5; accepted
def f(x): return x * x
# -- one job: accepted 5/5; accepted
def f(x): return float(x * x)
# -- one job: accepted 5/5; accepted
f = lambda x, y=2: x ** y
# -- one job: wrong_answer 4/5; wrong_answer
def f(x): return x
# -- one job: wrong_answer 4/5; wrong_answer
def f(x): return x + x
# -- one job: wrong_answer 4/5; wrong_answer
def f(x): return x * x if x else 7
# -- one job: wrong_answer 3/5; wrong_answer
def f(x): return 9 // x
# -- one job: runtime_error 1/5; runtime_error
def f(x): return {9: 9}[x * x]
# -- one job: runtime_error 0/5; runtime_error
def f(x): raise ValueError('é' * 190)
# -- one job: runtime_error 0/5; runtime_error
def f(): return 9
# -- one job: runtime_error 0/5; runtime_error
def f(x): return x * x
raise ValueError('early')
# -- one job: compile_error 0/5; compile_error
def f(x: return 9
# -- one job: wrong_answer 3/5; wrong_answer
def f(x): return [x]
# -- one job: wrong_answer 3/5; wrong_answer
def f(x): return [float('nan')]

## Results near a number.

# == cases
assert abs(f(3) - 9.5) < 1, 'far'
assert abs(4 - f(2)) <= 1e-6
def check(candidate):
    assert abs(candidate(3) - 27.0 / 3.0) < 1e-6
    assert abs(candidate(2) - 4) < 1e-6
# -- one job: accepted 2/2; accepted
def f(x): return x * x
# -- one job: accepted 2/2; accepted
def f(x): return x * x + 1e-7
# -- one job: accepted 2/2; accepted
def f(x): return abs(float(x)) ** 2
# -- one job: wrong_answer 1/2; wrong_answer
def f(x): return x * x + 1e-5
# -- one job: wrong_answer 0/2; wrong_answer
def f(x): return 10.5 if x > 2 else 4 + 1e-6
# -- one job: wrong_answer 0/2; wrong_answer
def f(x): return float('nan')
# -- one job: wrong_answer 0/2; wrong_answer
def f(x): return -float('inf')
# -- one job: wrong_answer 0/2; wrong_answer
def f(x): return x < 3
# -- one job: runtime_error 0/2; runtime_error
def f(x): return x / 0
# -- alike
def f(x): return None
# -- alike
def f(x): return [x * x]
# -- alike
def f(x): return 10 ** 400
# -- alike
def f(x): return x * x + 0j
# -- alike
from fractions import Fraction
def f(x): return Fraction(x * x)
# -- alike
def abs(x): return 0
def f(x): return 1
# -- alike
from operator import *
def f(x): return x * x
# -- alike
def f(x): return max([x * x], key=abs)

## Results behind a builtin.

# == claims
set({f}([1, 2, 2])) == set((1, 2))
sorted({f}([2, 1])) == [1, 2]
tuple({f}([3])) == tuple([3])
[4, 5] == list({f}([4, 5]))
len({f}([1, 2])) != 3
# -- one job
def f(x): return x
# -- one job
def f(x): return tuple(x)
# -- one job
def f(x): return x[::-1] + x
# -- one job
def f(x): return []
# -- one job
def f(x): return x[7]
# -- alike
def f(x): return set(x)
# -- alike
def f(x): return [True] + x[1:]
# -- alike
def f(x): return {i: 0 for i in x}
# -- alike
def f(x): return (i for i in x)
# -- alike
def f(x): return [float(i) for i in x]
# -- alike
def f(x): return [float('nan')]
# -- alike
def f(x): return [[i] for i in x]
# -- alike
def f(x): return 'ab'
# -- alike
def f(x): return None
# -- alike
class List(list): pass
def f(x): return List(x)
# -- alike
def f(x):
    list = x
    return list
# -- alike
def f(x): return x
def set(x): return 0
tuple = len = list = sorted = set

## What a program is made of, returns or raises may take more than a comparison of values to judge.

# == cases
assert f(1) == {1: 1}
assert f(2)
# -- alike: accepted
from collections import Counter
def f(x): return Counter([1])
# -- alike: unjudgeable
class Any:
    def __eq__(self, other): return True
def f(x): return Any()
# -- alike: unjudgeable
class D(dict): pass
def f(x): return D({1: 1})
# -- alike: runtime_error
class Own(Exception): pass
def f(x): raise Own('x')
# -- alike: runtime_error
def f(x): raise ValueError('é' * 200)
# -- alike: wrong_answer
def f(x): assert False
# -- alike: runtime_error
import unittest
def f(x): raise unittest.SkipTest
# -- alike: runtime_error
import os
def f(x): os._exit(0)
# -- alike: runtime_error
def g(x): return 1
# -- alike: output_exceeded
def f(x): return 'x' * (1 << 21)
# -- alike: unjudgeable
import sys
def f(x): return {1: 1} if sys._getframe(1).f_code.co_name == 'call_frame' else 0

## Of two ways to end, a function of assertions meets the first.

# == cases
assert f(1) == 1
assert f(2) == 2
def check(candidate):
    assert candidate(1) == 1
    assert candidate(2) == 2
# -- one job: fuel_exceeded; wrong_answer
def f(x):
    if x == 1: return 3
    while True: pass
# -- one job: fuel_exceeded; fuel_exceeded
def f(x):
    if x == 1: return 1
    while True: pass

## Both are one process to those who wrote the tests: a program sees the calls before its own.

# == cases
assert f(7) == 1
assert f(7) == 2
# -- one job: accepted
calls = []
def f(x):
    calls.append(x)
    return len(calls)

## Of what is sent as a value, an object is equal to that of the literal and not the same, and a set is in the order in which it is sent.

# == cases
def check(candidate):
    assert candidate([1.0, 2.0, 2.0], 0.3) == False
# -- alike: accepted
def f(numbers, by):
    for i in numbers:
        for j in numbers:
            if i is not j and abs(i - j) < by: return True
    return False

# == cases
assert f({8, 0, 16}) == [8, 0, 16]
# -- alike: accepted
def f(numbers): return list(numbers)

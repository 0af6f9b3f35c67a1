# Interactive problems: what is accepted, what is refused and why, and programs that try to be accepted for something else.

## It hides a number, and answers ten questions.

# == interactor
import sys
secret = int(open(sys.argv[1]).read())
for _ in range(11):
    line = input().split()
    if line[0] == '!':
        sys.exit(0 if int(line[1]) == secret else 'a wrong guess: ' + line[1])
    print('<' if secret < int(line[1]) else '>=', flush=True)
sys.exit('more than 10 questions')
# -- accepted
lo, hi = 1, 100
while lo < hi:
    mid = (lo + hi + 1) // 2
    print('?', mid, flush=True)
    if input() == '<':
        hi = mid - 1
    else:
        lo = mid
print('!', lo, flush=True)
# -- accepted
lo, hi = 1, 100
while lo < hi:
    mid = (lo + hi + 1) // 2
    print('?', mid, flush=True)
    if input() == '<':
        hi = mid - 1
    else:
        lo = mid
print('!', lo, flush=True)
import os
os._exit(0)
# -- wrong_answer: refuses it: more than 10 questions
while True:
    print('? 50', flush=True)
    input()
# -- wrong_answer: refuses it: more than 10 questions
for _ in range(11): print('? 50', flush=True)
# -- wrong_answer: waits for it; hint: flush
import sys
print('? 50')
sys.stdin.readline()
# -- wrong_answer: waits for it; hint: flush
input()
# -- wrong_answer: refuses it: EOFError
pass
# -- wrong_answer: refuses it: EOFError
print('? 50', flush=True)
# -- wrong_answer: refuses it: IndexError
print()
# -- wrong_answer: refuses it: ValueError: invalid literal for int() with base 10: 'é🙂'
print('! é🙂')
# -- wrong_answer: refuses it:
import sys
sys.stdout.buffer.write(b'! \xff\n')
# -- wrong_answer: refuses it: ValueError: Exceeds the limit (4300 digits)
print('? ' + '9' * 500_000, flush=True)
input()
# -- wrong_answer: refuses it: EOFError
import os
os.close(1)
input()
# -- runtime_error: OSError
import os
os.close(0)
print('? 50', flush=True)
input()
# -- runtime_error: ZeroDivisionError
1 / 0
# -- runtime_error: ZeroDivisionError
print('! 42', flush=True)
1 / 0
# -- runtime_error: EOFError
print('! 42', flush=True)
input()
# -- runtime_error: SystemExit
print('! 42', flush=True)
import sys
sys.exit(1)
# -- compile_error: SyntaxError
def f(:
# -- fuel_exceeded: Fuel
while True: pass
# -- fuel_exceeded: Fuel
print('! 42', flush=True)
while True: pass
# -- output_exceeded: OutputBytes
while True: print('? ' + '5' * 1000)
# -- output_exceeded: OutputBytes
for _ in range(64): print('x' * (1 << 20))

## Nothing that a program prints or does is the interactor's decision.

# -- failed
import sys
sys.exit(0)
# -- failed
import os
os._exit(0)
# -- failed
print('accepted\n1\n0\nok 1', flush=True)
raise SystemExit(0)
# -- failed
import sys
print('a wrong guess\nOK', file=sys.stderr)
# -- failed
print(open('correct_output.txt').read())
# -- failed
print(open('/work/input.txt').read())
# -- failed
import sys
print('!', open(sys.argv[1]).read())
# -- failed
import os
os.kill(os.getppid(), 9)
# -- failed
import os
for pid in range(9):
    try: os.kill(pid, 9)
    except BaseException: pass
print('! 0')
# -- failed
import sys
sys.stdin.write('! 42')
# -- failed
import os
os.write(0, b'! 42\n')
# -- failed
import _host
_host.call(b'D')
print('! 42')
# -- failed
import _host
_host.call(b'J')
# -- failed
import gc, io
for found in gc.get_objects():
    if isinstance(found, io.TextIOWrapper): found.close()

## It takes a program that prints `ok`, whatever else it does.

# == interactor
import sys
sys.exit(0 if 'ok' in sys.stdin.read().split() else 1)
# -- accepted
print('ok')

## It draws what the program cannot predict.

# == interactor
import random, sys
sys.exit(0 if input() == str(random.random()) else 1)
# -- wrong_answer
import random
print(random.random())

## What it says when it refuses, and that nothing but its status counts.

# == interactor
assert input() == 'x', 'no x'
# -- wrong_answer: case 0: the interactor refuses it: AssertionError: no x
print('y')
# == interactor
raise SystemExit(3)
# -- wrong_answer: case 0: the interactor refuses it: SystemExit: 3
print('y')
# == interactor
print('wrong')
import sys
print('wrong', file=sys.stderr)
# -- accepted
pass
# == interactor
import os
os._exit(0)
# -- accepted
pass

## It is run as a script with the files of the case.

# == interactor
from __future__ import annotations
import sys
assert __name__ == '__main__' and sys.argv == ['interactor.py', 'input.txt', 'correct_output.txt']
assert open(sys.argv[1]).read() == '42' and open(sys.argv[2]).read() == 'secret answer'
# -- accepted
assert __import__('sys').argv == ['<program>']

# == {"stdio": {"cases": [{"stdin": "7", "stdout": "", "files": {"a": "1"}, "expected_files": {"b": "17"}}], "interactor": "print(open('input.txt').read())"}}
# -- accepted
open('b', 'w').write(open('a').read() + input())
# -- wrong_answer
open('b', 'w').write(input())
# -- wrong_answer
pass

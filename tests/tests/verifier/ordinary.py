# Scripts as people write them for contests, each behind what it reads and what it prints.
# -- ["1\n", "2\n"]
import sys, threading
def main():
    print(int(input()) + 1)
threading.stack_size(1 << 26)
threading.Thread(target=main).start()
# -- ["20000\n", "976725\n"]
import sys
from functools import cache
sys.setrecursionlimit(10**6)
@cache
def f(n):
    return 1 if n < 2 else (f(n - 1) + f(n - 2)) % 1000007
print(f(int(input())))
# -- ["a\n", "a\n"]
import asyncio
async def main():
    await asyncio.sleep(0.1)
    print(input())
asyncio.run(main())
# -- ["3 1 2\n", "1 2 3\n"]
from sortedcontainers import SortedList
print(*SortedList(map(int, input().split())))
# -- ["", "5\n"]
import os, sys
print(5)
sys.stdout.flush()
os._exit(0)
# -- ["", "5\n"]
import os
os.write(1, b'5\n')
os._exit(0)
# -- ["", "5\n"]
import os
out = os.fdopen(1, 'w', 1 << 16)
out.write('5')

# Recur deeply: A thousand frames up and down.
# job: script

import sys
sys.setrecursionlimit(20000)
def f(n):
    return n and f(n - 1) + 1
while True:
    f(9000)

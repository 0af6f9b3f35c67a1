from functools import cache
@cache
def f(i, j):
    return 1 if i == 0 or j == 0 else (f(i - 1, j) + f(i, j - 1)) % 1_000_007
print(max(f(i, j) for i in range(400) for j in range(400)))

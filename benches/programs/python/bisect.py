from bisect import bisect_left
x = list(range(0, 2_000_000, 3))
print(sum(bisect_left(x, i * 7919 % 2_000_000) for i in range(500_000)))

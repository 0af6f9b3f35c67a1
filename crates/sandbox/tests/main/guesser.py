"""Finds the number by halves."""

lo, hi = 1, 100
while lo < hi:
    mid = (lo + hi + 1) // 2
    print('?', mid, flush=True)
    if input() == '<':
        hi = mid - 1
    else:
        lo = mid
print('!', lo, flush=True)

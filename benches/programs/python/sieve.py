n = 20_000_000
is_p = bytearray([1]) * (n + 1)
for p in range(2, int(n ** .5) + 1):
    if is_p[p]:
        is_p[p * p::p] = bytes(len(range(p * p, n + 1, p)))
print(sum(is_p))

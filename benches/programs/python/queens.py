def place(n, r=0, c=0, d=0, a=0):
    if r == n:
        return 1
    t = 0
    for x in range(n):
        if not (c >> x & 1 or d >> (r + x) & 1 or a >> (r - x + n) & 1):
            t += place(n, r + 1, c | 1 << x, d | 1 << (r + x), a | 1 << (r - x + n))
    return t
print(place(10))

import heapq
n = 60_000
g = [[((i * 7 + k) % n, i * k % 11 + 1) for k in (1, 2, 5)] for i in range(n)]
d = [10 ** 9] * n
d[0] = 0
h = [(0, 0)]
while h:
    c, u = heapq.heappop(h)
    if c > d[u]:
        continue
    for v, w in g[u]:
        if c + w < d[v]:
            d[v] = c + w
            heapq.heappush(h, (d[v], v))
print(sum(d))

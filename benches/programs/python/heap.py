import heapq
h = []
for i in range(300_000):
    heapq.heappush(h, i * 7919 % 100_003)
print(sum(heapq.heappop(h) for _ in range(100_000)))

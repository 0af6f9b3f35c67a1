from collections import deque
n = 700
seen = [[0] * n for _ in range(n)]
q = deque([(0, 0)])
seen[0][0] = 1
while q:
    r, c = q.popleft()
    for a, b in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
        if 0 <= a < n and 0 <= b < n and not seen[a][b]:
            seen[a][b] = 1
            q.append((a, b))
print(sum(map(sum, seen)))

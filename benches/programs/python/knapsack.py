best = [0] * 20_001
for w in range(1, 80):
    for c in range(20_000, w - 1, -1):
        best[c] = max(best[c], best[c - w] + w * w % 97)
print(best[-1])

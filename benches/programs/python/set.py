s = set()
for i in range(1_000_000):
    s.add(i * i % 1_000_003)
print(len(s))

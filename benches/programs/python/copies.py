x = list(range(1000))
for _ in range(200_000):
    y = x[:]
print(len(y))

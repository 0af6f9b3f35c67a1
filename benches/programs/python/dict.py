d = {}
for i in range(1_000_000):
    k = i * 7919 % 10007
    d[k] = d.get(k, 0) + 1
print(len(d))

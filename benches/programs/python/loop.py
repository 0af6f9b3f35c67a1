s = 0
for i in range(3_000_000):
    s += i % 3
print(s)

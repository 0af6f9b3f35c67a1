i = s = 0
while i < 2_000_000:
    s ^= i
    i += 1
print(s)

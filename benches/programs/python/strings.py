s = 'the quick brown fox ' * 20_000
w = s.split()
d = {}
for x in w:
    d[x] = d.get(x, 0) + 1
print(sorted(d), sum(map(len, [x.upper()[::-1] for x in w * 5])))

t = ' '.join(map(str, range(500_000)))
print(sum(map(int, t.split())))

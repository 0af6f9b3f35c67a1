x = [(i * 7919 % 10007, i) for i in range(400_000)]
x.sort(key=lambda t: (t[0], -t[1]))
print(x[0])

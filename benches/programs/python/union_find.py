n = 300_000
p = list(range(n))
def find(x):
    while p[x] != x:
        p[x] = p[p[x]]
        x = p[x]
    return x
for i in range(n):
    p[find(i)] = find(i * 7 % n)
print(sum(find(i) == i for i in range(n)))

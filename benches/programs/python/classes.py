class P:
    def __init__(self, x):
        self.x = x
    def add(self, o):
        return P(self.x + o.x)
p = P(0)
q = P(1)
for _ in range(1_000_000):
    p = p.add(q)
print(p.x)

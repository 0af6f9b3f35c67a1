# Fill a dict with equal hashes: quadratic: each key is compared with all before it.
# job: script

keys = [(n << 61) - n for n in range(1, 3000)]
class Key:
    def __init__(self, n):
        self.n = n
    def __hash__(self):
        return 1
same = [Key(n) for n in range(1000)]
while True:
    set(same)
    set(keys)

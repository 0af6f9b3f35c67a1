from itertools import permutations
print(max(sum(a * b for a, b in zip(p, range(9))) for p in permutations(range(9))))

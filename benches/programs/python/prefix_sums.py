from itertools import accumulate
x = list(accumulate(i * i % 13 for i in range(1_500_000)))
print(x[-1])

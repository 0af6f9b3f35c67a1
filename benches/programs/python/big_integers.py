x = 1
for i in range(1, 20_000):
    x *= i
print(x.bit_length())

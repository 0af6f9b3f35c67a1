# Multiply large ints: karatsuba on 10,000 digits.
# job: script

a = 3 ** 40000
while True:
    a * a

# Divide large ints: schoolbook division: quadratic, and a 64-bit division for each digit.
# job: script

a, b = 3 ** 40000, 7 ** 7000
while True:
    divmod(a, b)

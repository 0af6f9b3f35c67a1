from fractions import Fraction
print(sum(Fraction(1, i) for i in range(1, 2_500)).numerator % 1_000_007)

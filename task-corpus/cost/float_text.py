# Print and read floats: printing a subnormal number, or the shortest of 17 digits, takes arithmetic on long ints.
# job: script

while True:
    for x in (5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 0.1 + 0.2):
        float(repr(x)); "%.1000f" % x

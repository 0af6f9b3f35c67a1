# Convert floats to ints: `int(float)`, `round` and `divmod` on floats.
# job: script

while True:
    for x in (1e300, 1e15, 123456.789, -5e-324):
        int(x); round(x, 3); divmod(x, 0.7); x % 1e-5; hash(x)

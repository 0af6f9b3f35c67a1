# Raise ints to powers modulo: `pow` with three arguments.
# job: script

m = (1 << 2048) - 159
while True:
    pow(3, m - 2, m)

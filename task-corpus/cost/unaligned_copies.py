# Copy small pieces: slices of a few bytes: an allocation and a copy each.
# job: script

data = bytes(range(256)) * 100
while True:
    for n in range(0, 20000, 7):
        data[n:n + 9]

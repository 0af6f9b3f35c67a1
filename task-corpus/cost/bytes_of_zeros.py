# Make large blocks of zeros: `memory.fill` by way of `bytes(n)`.
# job: script

while True:
    bytes(30 << 20)

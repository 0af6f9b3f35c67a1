# Touch each page of fresh memory once: page faults: one byte in each 4 KiB of 200 MiB.
# job: script

block = bytearray(190 << 20)
while True:
    block[::4096] = bytes(len(range(0, len(block), 4096)))

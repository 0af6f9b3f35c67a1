# Walk large bytes in large strides: TLB misses: a slice that takes one byte from each page.
# job: script

block = bytes(150 << 20)
while True:
    block[::4096]

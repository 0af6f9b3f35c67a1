# Walk a large list in large strides: TLB misses: a slice that takes one reference from each page.
# job: script

items = [None] * 30000000
while True:
    items[::1024]

# Repeat a list: A store for each item, and a reference count.
# job: script

while True:
    [None] * (8 << 20)

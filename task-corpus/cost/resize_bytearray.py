# Resize a bytearray: `realloc`: megabytes are moved whenever it grows.
# job: script

while True:
    block = bytearray(1)
    for n in range(60):
        block.extend(bytes(1 << 20))

# Seek far, write one byte, open again: zero fill by way of the offset, and a truncation by `O_TRUNC`.
# job: script

while True:
    with open("/tmp/f", "wb", buffering=0) as f:
        f.seek(15 << 20)
        f.write(b"x")

# Read into one buffer a thousand times: scatter and gather: one call reads the same bytes into overlapping vectors.
# job: script

import os
fd = os.open("/tmp/f", os.O_CREAT | os.O_RDWR)
os.write(fd, bytes(1 << 20))
buffer = bytearray(1024)
parts = [buffer] * 1024
while True:
    os.preadv(fd, parts, 0)

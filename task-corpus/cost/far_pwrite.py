# Write one byte far behind the end: zero fill: the gap before the byte is cleared by the host.
# job: script

import os
fd = os.open("/tmp/f", os.O_RDWR | os.O_CREAT)
while True:
    os.pwrite(fd, b"x", 15 << 20)
    os.ftruncate(fd, 0)

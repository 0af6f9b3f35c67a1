# Grow a file by truncating it: zero fill: each `ftruncate` makes the host clear megabytes for one call.
# job: script

import os
fd = os.open("/tmp/f", os.O_RDWR | os.O_CREAT)
while True:
    os.ftruncate(fd, 15 << 20)
    os.ftruncate(fd, 0)

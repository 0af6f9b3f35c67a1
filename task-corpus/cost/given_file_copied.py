# Write into many copies of a large file: copying: whole files are read and written in large blocks.
# job: script

import os
fd = os.open("/tmp/f", os.O_RDWR | os.O_CREAT)
block = bytes(7 << 20)
while True:
    os.pwrite(fd, block, 0)
    os.pread(fd, 7 << 20, 0)

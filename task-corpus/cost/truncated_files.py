# Truncate many large files: host memory: room that a truncated file keeps is charged to no cap, and clearing it takes time.
# job: script

import os
n = 0
while True:
    n += 1
    fd = os.open(f"/tmp/{n % 5000}", os.O_RDWR | os.O_CREAT)
    os.ftruncate(fd, 8 << 20)
    os.ftruncate(fd, 0)
    os.close(fd)

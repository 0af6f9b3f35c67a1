# Rename at the bottom of a deep directory: ancestry walked upward: a thousand levels for one call.
# job: script

import os
os.mkdir("/tmp/top")
fd = os.open("/tmp/top", os.O_RDONLY)
for n in range(1000):
    os.mkdir("d", dir_fd=fd)
    down = os.open("d", os.O_RDONLY, dir_fd=fd)
    os.close(fd)
    fd = down
os.mkdir("a", dir_fd=fd)
while True:
    os.rename("a", "b", src_dir_fd=fd, dst_dir_fd=fd)
    os.rename("b", "a", src_dir_fd=fd, dst_dir_fd=fd)

# Write with a thousand vectors: scatter and gather: 1,024 empty vectors in one call, each looked at by the host.
# job: script

import os
fd = os.open("/tmp/f", os.O_CREAT | os.O_RDWR)
parts = [b""] * 1024
while True:
    os.writev(fd, parts)

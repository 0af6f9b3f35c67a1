# Stat: the cheapest calls that look at a path and at a descriptor.
# job: script

import os
fd = os.open("/tmp", os.O_RDONLY)
while True:
    os.stat("/tmp")
    os.fstat(fd)

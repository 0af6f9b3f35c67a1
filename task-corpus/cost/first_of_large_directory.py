# Ask for the first entries of a large directory: the first buffer of entries, again and again.
# job: script

import os
os.mkdir("/tmp/d")
for n in range(30000):
    os.close(os.open(f"/tmp/d/{n}", os.O_CREAT | os.O_WRONLY))

while True:
    with os.scandir("/tmp/d") as entries:
        next(entries)

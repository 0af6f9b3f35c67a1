# Rename a directory of many files: ancestry: whether the target lies below the source was found out by walking all that is below it.
# job: script

import os
os.mkdir("/tmp/d")
for n in range(30000):
    os.close(os.open(f"/tmp/d/{n}", os.O_CREAT | os.O_WRONLY))

while True:
    os.rename("/tmp/d", "/tmp/e")
    os.rename("/tmp/e", "/tmp/d")

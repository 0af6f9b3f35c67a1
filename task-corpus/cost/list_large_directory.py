# List a directory of many files: entries stepped over: each `fd_readdir` begins at its cookie, after all entries before it.
# job: script

import os
os.mkdir("/tmp/d")
for n in range(30000):
    os.close(os.open(f"/tmp/d/{n}", os.O_CREAT | os.O_WRONLY))

while True:
    os.listdir("/tmp/d")

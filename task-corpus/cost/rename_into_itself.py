# Rename a directory into itself: ancestry on the way to an error: the refused call costs what the allowed one does.
# job: script

import os
os.mkdir("/tmp/d")
for n in range(30000):
    os.close(os.open(f"/tmp/d/{n}", os.O_CREAT | os.O_WRONLY))

os.mkdir("/tmp/e")
while True:
    try:
        os.rename("/tmp/d", "/tmp/d/0/x")
    except OSError:
        pass
    try:
        os.rename("/tmp/d", "/tmp/d/x")
    except OSError:
        pass

# Draw random bytes: random bytes are computed on the host.
# job: script

import os
while True:
    os.urandom(1 << 20)

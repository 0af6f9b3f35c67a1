# Open and close: descriptors: the lowest free number is searched for from the beginning.
# job: script

import os
held = [os.open("/dev/null", os.O_RDONLY) for _ in range(240)]
while True:
    os.close(os.open("/dev/null", os.O_RDONLY))

# Read the clock: the cheapest call of the host, one after another.
# job: script

import time
while True:
    time.time(); time.time(); time.time(); time.time(); time.time(); time.time(); time.time(); time.time()

# Wait for many descriptors: `poll_oneoff` with many subscriptions.
# job: script

import os, select
fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(60)]
while True:
    select.select(fds, [], [], 0)

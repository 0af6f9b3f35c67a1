# Sleep: `poll_oneoff`: sleeping takes no time, and the call that says so does.
# job: script

import time
while True:
    time.sleep(0.001)

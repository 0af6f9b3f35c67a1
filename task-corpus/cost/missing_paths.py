# Look up what is not there: failed calls: each costs the host a walk and the program an exception.
# job: script

import os
while True:
    os.path.exists("/tmp/a/b/c")
    os.access("/work/none", 0)

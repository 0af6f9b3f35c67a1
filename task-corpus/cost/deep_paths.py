# Look up paths of many components: components walked: a path of 120 components is resolved on the host.
# job: script

import os
path = "/tmp" + "/d" * 110
os.makedirs(path)
while True:
    os.stat(path)

# Look up paths made of dots: components walked: `..` again and again, up to the length of a path.
# job: script

import os
path = "/tmp/.." * 60 + "/tmp" + "/." * 1500
while True:
    os.stat(path)

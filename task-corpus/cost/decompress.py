# Decompress: zlib: a megabyte of zeros comes out of a kilobyte.
# job: script

import zlib
packed = zlib.compress(bytes(20 << 20), 9)
while True:
    zlib.decompress(packed)

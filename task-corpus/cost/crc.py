# Check sums: `crc32` and `adler32`: a table look-up a byte.
# job: script

import binascii, zlib
data = bytes(4 << 20)
while True:
    binascii.crc32(data); zlib.adler32(data)

# Compress: zlib at its slowest, on text that nearly repeats.
# job: script

import zlib
data = b"".join(b"%d," % (n * n % 997) for n in range(50000))
while True:
    zlib.compress(data, 9)

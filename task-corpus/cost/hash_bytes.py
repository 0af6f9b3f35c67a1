# Hash large buffers: `hashlib`: rounds of integer arithmetic.
# job: script

import hashlib
data = bytes(1 << 20)
while True:
    for name in ("md5", "sha1", "sha256", "sha512", "sha3_256", "blake2b"):
        hashlib.new(name, data).digest()

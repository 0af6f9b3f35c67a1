# Hash what was hashed: a hash of few bytes again and again, as in the derivation of a key.
# job: script

import hashlib
digest = b"password"
while True:
    for _ in range(1000):
        digest = hashlib.sha256(digest).digest()

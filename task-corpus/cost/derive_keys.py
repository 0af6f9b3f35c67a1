# Derive keys: `pbkdf2` and the like are made to be slow.
# job: script

import hashlib
while True:
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 5000)

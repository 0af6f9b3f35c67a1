# Normalise Unicode: decompositions of combining marks are sorted.
# job: script

import unicodedata
text = "a" + "\u0301\u0323" * 5000 + "\ufdfa" * 1000
while True:
    unicodedata.normalize("NFKD", text)
    unicodedata.normalize("NFC", text)

# Write and read JSON: C code that makes objects.
# job: script

import json
value = {str(n): [n, n / 3, "text", None, True] for n in range(5000)}
while True:
    json.loads(json.dumps(value))

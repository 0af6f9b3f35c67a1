# Pickle: C code that makes objects and remembers each.
# job: script

import pickle
value = [{str(n): (n, [n])} for n in range(5000)]
while True:
    pickle.loads(pickle.dumps(value))

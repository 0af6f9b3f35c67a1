"""Says it is ready, then answers any job with an outcome that the job cannot have: more fuel than it was given."""

import json, os, struct
def get():
    n = struct.unpack('<I', os.read(0, 4))[0]
    while n: n -= len(os.read(0, n))
def put(x):
    b = json.dumps(x).encode(); os.write(0, struct.pack('<I', len(b)) + b)
get(); put('Ready')
while True:
    get(); put({'Outcome': {'exit': 'returned', 'calls': [], 'error': None, 'stdout': [], 'stderr': [], 'truncated': False, 'fuel': FUEL, 'peak_memory_bytes': 0}})

# Collect the garbage of a huge graph: the collector walks every object, most of them out of the caches.
# job: script

import gc
graph = [[n] for n in range(1000000)]
while True:
    gc.collect()

# Copy a graph of objects: allocation, dictionaries and recursion.
# job: script

import copy
graph = [{str(n): [n, (n,)]} for n in range(5000)]
while True:
    copy.deepcopy(graph)

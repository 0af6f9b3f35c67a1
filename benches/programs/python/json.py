import json
x = [{'id': i, 'tags': ['a', 'b'], 'v': i / 3} for i in range(40_000)]
print(len(json.loads(json.dumps(x))))

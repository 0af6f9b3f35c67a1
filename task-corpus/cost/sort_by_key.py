# Call back from C: `map`, `filter` and `sorted` with functions of Python's.
# job: script

while True:
    sorted(map(lambda x: -x, filter(lambda x: x % 3, range(1000))), key=lambda x: x % 7)

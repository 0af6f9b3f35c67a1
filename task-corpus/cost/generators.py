# Switch between generators: frames are suspended and resumed.
# job: script

def g(n):
    while True:
        yield n
a, b = g(1), g(2)
while True:
    for _ in range(1000):
        next(a); next(b)

# Divide small ints: integer division is the slowest integer instruction.
# job: script

def f():
    for n in range(1, 1000):
        987654321987 // n; 987654321987 % n; -987654321 // n
while True:
    f()

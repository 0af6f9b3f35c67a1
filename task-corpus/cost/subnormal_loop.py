# Multiply subnormal numbers in Python: the same in a loop of the interpreter, where each product is one of many instructions.
# job: script

def f(x):
    for _ in range(1000):
        x * 0.5; x * 0.5; x * 0.5; x * 0.5; x * 0.5; x * 0.5; x * 0.5; x * 0.5; x * 0.5; x * 0.5
while True:
    f(1e-310)

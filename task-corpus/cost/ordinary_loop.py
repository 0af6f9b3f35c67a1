# An ordinary loop: what every other program of this folder is compared with: a loop of small ints in Python.
# job: script

total = 0
while True:
    for i in range(1000):
        total += i * i % 7

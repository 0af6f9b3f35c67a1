# Take fresh memory and give it back: page faults: memory that was never touched is cleared by the kernel.
# job: script

while True:
    block = bytearray(40 << 20)
    del block

# Copy large blocks: `memory.copy` of more than the caches hold.
# job: script

block = bytearray(60 << 20)
view = memoryview(block)
while True:
    block[:] = view

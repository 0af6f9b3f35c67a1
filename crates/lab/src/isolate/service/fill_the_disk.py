try:
    for number in range(32):
        with open('fill%d.bin' % number, 'wb') as file:
            file.write(b'x' * (1 << 20))
except OSError:
    pass
for _ in range(20):
    print('x' * 100_000)

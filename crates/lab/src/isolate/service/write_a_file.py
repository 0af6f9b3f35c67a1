try:
    with open('small.bin', 'wb') as file:
        count = file.write(b'x' * 65_536)
    print(count)
except OSError:
    print('refused')

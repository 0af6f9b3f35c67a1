"""Asks for the double of each number, and wants each answer before it goes on."""

import sys
for number in range(5):
    print(number, flush=True)
    if input() != str(2 * number):
        sys.exit(1)

"""Hides the number of its file, and answers ten questions."""

import sys
secret = int(open('input.txt').read())
for _ in range(11):
    word, number = input().split()
    if word == '!':
        sys.exit(0 if int(number) == secret else 'wrong')
    print('<' if secret < int(number) else '>=', flush=True)
sys.exit('too many questions')

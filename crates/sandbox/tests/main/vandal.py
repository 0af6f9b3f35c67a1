"""Tries every way to change a tree that a program has; prints what became of each."""

import os
def try_it(what):
    try:
        what()
        print('done')
    except OSError as error:
        print(type(error).__name__, error.errno)
try_it(lambda: open('pkg/__init__.py', 'w'))
try_it(lambda: open('pkg/__init__.py', 'a'))
try_it(lambda: open('pkg/__init__.py', 'r+').write('x'))
try_it(lambda: os.truncate('pkg/__init__.py', 0))
try_it(lambda: os.unlink('pkg/__init__.py'))
try_it(lambda: os.rename('pkg/__init__.py', 'x.py'))
try_it(lambda: os.rename('pkg', 'other'))
try_it(lambda: os.rmdir('pkg/deep'))
try_it(lambda: os.mkdir('pkg/new'))
try_it(lambda: open('pkg/new.py', 'w'))
try_it(lambda: open('new.py', 'w'))
try_it(lambda: os.replace('new.py', 'pkg/__init__.py'))
try_it(lambda: open('/opt/lib/new.py', 'w'))
try_it(lambda: open('/opt/lib/tool.py', 'w'))
print(open('pkg/__init__.py').read(), end='')

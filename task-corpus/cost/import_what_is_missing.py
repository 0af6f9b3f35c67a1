# Import modules that are not there: the import system looks at every place it knows, and lists directories.
# job: script

import importlib
while True:
    importlib.invalidate_caches()
    try:
        import nothing_of_that_name
    except ImportError:
        pass

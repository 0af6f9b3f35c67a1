# Return a wrong text of a megabyte: printing: every character of it was escaped before the detail was cut.
# job: call

def f():
    return "\x00" * 1000000

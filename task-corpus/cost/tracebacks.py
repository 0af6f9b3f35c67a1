# Print the traceback of a deep recursion: lines are looked up and formatted for each frame.
# job: script

import traceback
def f(n):
    return f(n + 1)
while True:
    try:
        f(0)
    except RecursionError as error:
        "".join(traceback.format_exception(error, limit=500))

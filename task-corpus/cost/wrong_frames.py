# Call the host with nothing: `_host.call`: the channel itself, with a frame that is refused at its length.
# job: script

import _host
try:
    while True:
        _host.call(b"Q" * 1000)
except BaseException:
    pass

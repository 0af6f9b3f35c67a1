# Create and remove files: nodes made and freed, with names of 255 bytes.
# job: script

import os
name = "/tmp/" + "n" * 250
while True:
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
    os.unlink(name)

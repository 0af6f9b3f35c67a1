# Raise an exception with a huge message: the harness encodes the message before it is cut.
# job: script

message = "é" * 20000000
class Late(Exception):
    def __str__(self):
        return message
raise Late

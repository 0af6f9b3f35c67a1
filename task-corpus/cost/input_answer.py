# Answer with arguments of megabytes: arguments are read, encoded, sent to the guest and read there.
# job: input

print("[" + "'abc', " * 120000 + "]")

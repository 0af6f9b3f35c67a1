# Answer with a list of a million items: reading a long literal.
# job: output

print("[" + "1," * 500000 + "]")

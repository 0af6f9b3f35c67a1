# Answer with a huge argument: an int of eight million hexadecimal digits as an argument.
# job: input

print("0x" + "f" * 8000000)

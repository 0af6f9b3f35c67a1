# Answer with a hundred thousand adjacent literals: reading: each piece was joined to a copy of all before it.
# job: output

print("b'x' " * 190000)

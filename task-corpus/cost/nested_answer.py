# Answer with sets in sets: reading: each level names its members again.
# job: output

print("frozenset({" * 60 + "'" + "x" * 900000 + "'" + "})" * 60)

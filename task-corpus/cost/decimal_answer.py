# Answer with an int of a million digits: reading decimal digits is quadratic, and the syntax of answers has no limit on them.
# job: output

print("9" * 1000000)

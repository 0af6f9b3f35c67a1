# Answer with a float of a million digits: reading a float of many digits.
# job: output

print("0." + "123456789" * 110000 + "e-300")

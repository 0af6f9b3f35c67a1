# Answer with a hexadecimal literal of eight million digits: A prediction is judged without a job: no fuel at all.
# job: output

print("0x" + "f" * 8000000)

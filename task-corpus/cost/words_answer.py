# Answer with a long word: A refused answer: what is quoted of it in the reason.
# job: output

print("r" * 1000000 + "'")

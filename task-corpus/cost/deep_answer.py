# Answer with brackets in brackets: reading: nesting that is refused, after how much?
# job: output

print("[" * 500000 + "]" * 500000)

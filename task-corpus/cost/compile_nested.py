# Compile nested expressions: the parser backtracks on brackets in brackets.
# job: script

source = "(" * 100 + "1" + ")" * 100
wrong = "[" * 90 + "1 2" + "]" * 90
while True:
    compile(source, "s", "eval")
    try:
        compile(wrong, "s", "eval")
    except SyntaxError:
        pass

# Runs programs, each a line of JSON, and prints what each prints.
import contextlib, io, json, sys
for line in sys.stdin:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(json.loads(line), '<program>', 'exec'), {'__name__': '__main__'})
        except BaseException as error:
            print(type(error).__name__)
    print(json.dumps(out.getvalue()))

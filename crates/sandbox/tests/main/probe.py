"""Tells whether anything is there that another program has left."""
import builtins, math, sys, random, os, gc, json, re, decimal, time
print(len('abc'), math.pi, hasattr(math, 'leaked'), hasattr(builtins, 'leaked'), 'leaked' in sys.modules, '/leaked' in sys.path)
print(random.random(), os.urandom(4).hex(), time.time(), os.listdir('.'), os.listdir('/tmp'), 'LEAKED' in os.environ)
print(os.getcwd(), sys.getrecursionlimit(), gc.isenabled(), json.dumps([1]), decimal.getcontext().prec, sys.gettrace())
print(sorted(sys.modules) == sorted(set(sys.modules)), len(sys.modules), id(object()), hash('seed'), list({'a', 'b', 'c'}))
print(sorted(globals()), sys.stdin.read())

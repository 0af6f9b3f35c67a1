//! What programs end as, each followed by a plain job that must not notice.

use veriplay_core::{CallResult, Execute, ExecuteError, Exit, Job, LimitKind, Limits, Value};

use crate::support::{calls, end_of, ends_and_harms_nobody, limits, run, sandbox, script, text};

fn check(program: &str, exit: &str, kind: &str) {
    let ended = ends_and_harms_nobody(&script(program));
    assert_eq!(ended, (exit.to_owned(), kind.to_owned()), "{program}");
}

#[test]
fn a_function_is_called_once_for_each_argument_list_and_one_that_raises_keeps_nobody_from_running() {
    let arguments = [[Value::int(1), Value::None], [Value::int(1), Value::int(2)], [Value::str("a"), Value::str("b")]];
    let outcome = run(&calls("def f(a, b):\n    return a + b", arguments.map(Vec::from).to_vec()));
    assert_eq!(outcome.exit, Exit::Returned, "{outcome:?}");
    assert!(matches!(&outcome.calls[0], CallResult::Raised(error) if error.kind == "TypeError"), "{outcome:?}");
    assert_eq!(outcome.calls[1], CallResult::Returned(Value::int(3).encode()));
    assert_eq!(outcome.calls[2], CallResult::Returned(Value::str("ab").encode()));
}

#[test]
fn a_script_reads_stdin_and_writes_both_streams() {
    let mut job = script("import sys\nprint(sys.stdin.read().upper(), __name__)\nprint('e', file=sys.stderr)");
    job.stdin = "hé".into();
    let outcome = run(&job);
    assert_eq!((outcome.exit, text(&outcome.stdout)), (Exit::Returned, "HÉ __main__\n".to_owned()));
    assert_eq!((text(&outcome.stderr), outcome.truncated), ("e\n".to_owned(), false));
}

#[test]
fn standard_input_is_read_by_every_idiom() {
    let programs = [
        "import os\ndata = os.read(0, os.fstat(0).st_size)",
        "import os\ndata = os.read(0, 1 << 20)",
        "import io, os\ndata = io.BytesIO(os.read(0, os.fstat(0).st_size)).read()",
        "data = open(0).read().encode()",
        "data = open(0, 'rb').read()",
        "import io\ndata = io.open(0, 'rb', buffering=0).readall()",
        "data = open('/dev/stdin').read().encode()",
        "import sys\ndata = sys.stdin.buffer.read()",
        "import sys\ndata = sys.stdin.buffer.raw.read(100)",
        "import sys\ndata = ''.join(sys.stdin.readlines()).encode()",
        "import sys\ndata = ''.join(sys.stdin).encode()",
        "import sys\nsys.stdin.readline()\nsys.stdin.seek(0)\ndata = sys.stdin.read().encode()",
        "import sys\ndata = (input() + '\\n' + sys.stdin.readline() + sys.stdin.read()).encode()",
        "import fileinput\ndata = ''.join(fileinput.input()).encode()",
        "import fileinput\ndata = ''.join(fileinput.input('-')).encode()",
        "import pathlib\ndata = pathlib.Path('/dev/stdin').read_bytes()",
        "import os\nwith os.fdopen(0, 'rb') as f: data = f.read()",
        "import select, sys\nselect.select([sys.stdin], [], [])\ndata = sys.stdin.read().encode()",
    ];
    for program in programs {
        let mut job = script(&format!("{program}\nimport sys, os, stat\nprint(len(data), data)"));
        job.stdin = b"1 2\n3\n4".to_vec();
        let outcome = run(&job);
        assert_eq!(text(&outcome.stdout), "7 b'1 2\\n3\\n4'\n", "{program}: {outcome:?}");
    }
    let about = "import os, stat, sys\nfound = os.fstat(0)\n\
                 print(found.st_size, stat.S_ISREG(found.st_mode), sys.stdin.isatty(), sys.stdin.fileno(), len(os.listdir('/dev')))";
    assert_eq!(text(&run(&script(about)).stdout), "0 True False 0 2\n");
}

#[test]
fn an_endless_loop_uses_up_its_fuel_even_when_it_catches_everything() {
    check("while True: pass", "Fuel", "");
    check("while True:\n    try:\n        while True: pass\n    except BaseException: pass", "Fuel", "");
    let outcome = run(&script("while True: pass"));
    assert_eq!((outcome.fuel, outcome.error), (limits().fuel, None));
}

#[test]
fn a_memory_bomb_ends_at_the_memory_limit() {
    // Memory is paid for as it grows, and this much costs more than the small fuel of these tests.
    let mut bomb = script("x = []\nwhile True: x.append(bytearray(1 << 20))");
    bomb.limits.fuel *= 10;
    assert_eq!(ends_and_harms_nobody(&bomb), ("MemoryBytes".to_owned(), String::new()));
    check("try:\n    x = 'a' * (1 << 30)\nexcept BaseException: pass", "MemoryBytes", "");
    check("bytes(1 << 40)", "Raised", "OverflowError");
}

#[test]
fn endless_output_ends_at_the_output_limit_and_its_start_is_kept() {
    check("while True: print('x' * 100)", "OutputBytes", "");
    let outcome = run(&script("while True: print('ab')"));
    assert_eq!(outcome.stdout.len() as u64, limits().output_bytes);
    assert!(outcome.truncated && outcome.stdout.starts_with(b"ab\nab\n"));
}

#[test]
fn output_that_nobody_reads_to_its_end_is_cut() {
    let cap = usize::try_from(limits().output_bytes).unwrap();
    let complaints = run(&script(&format!("import sys\nprint('x' * {}, file=sys.stderr)\nprint('end')", 2 * cap)));
    assert_eq!(
        (complaints.stdout.as_slice(), complaints.stderr.len(), complaints.truncated),
        (b"end\n".as_slice(), cap, true)
    );
    let chatter = run(&calls(&format!("def f():\n    print('x' * {})\n    return 7", 2 * cap), vec![vec![]]));
    assert_eq!((chatter.value(), chatter.stdout.len(), chatter.truncated), (Ok(Value::int(7)), cap, true));
}

#[test]
fn a_value_larger_than_the_output_limit_ends_the_job() {
    let big = format!("def f(): return [7] * {}", limits().output_bytes);
    assert_eq!(end_of(&run(&calls(&big, vec![vec![]]))).0, "OutputBytes");
    let together = format!("def f(): return b'x' * {}", limits().output_bytes / 2);
    let outcome = run(&calls(&together, vec![vec![]; 3]));
    assert_eq!((end_of(&outcome).0.as_str(), outcome.calls.len()), ("OutputBytes", 1));
}

#[test]
fn files_end_at_the_file_limit_and_can_be_given_back() {
    check("open('a', 'wb').write(b'x' * (2 << 20))", "FileBytes", "");
    check("f = open('a', 'wb')\nf.seek(1 << 40)\nf.write(b'x')\nf.flush()", "FileBytes", "");
    check("for i in range(100000): open(f'/tmp/{i}', 'w').close()", "FileBytes", "");
    let again = "import os\nfor i in range(9):\n    open('a', 'wb').write(b'x' * (1 << 19))\n    os.remove('a')";
    check(again, "Returned", "");
}

#[test]
fn deep_recursion_is_an_exception_or_a_stack_overflow() {
    check("def g(n): return g(n + 1)\ng(0)", "Raised", "RecursionError");
    let native =
        "import sys\nsys.setrecursionlimit(10**9)\nclass A:\n    def __repr__(self): return repr(self)\nrepr(A())";
    let (exit, kind) = ends_and_harms_nobody(&script(native));
    let known = [("Raised", "RecursionError"), ("Trapped", "stack_overflow"), ("MemoryBytes", ""), ("Fuel", "")];
    assert!(known.contains(&(exit.as_str(), kind.as_str())), "{exit} {kind}");
}

/// CPython would raise at some 220 calls through C code on WASI.
#[test]
fn recursion_through_c_code_has_the_depth_that_memoised_functions_need() {
    let recursions = [
        "import functools\n@functools.lru_cache(None)\ndef f(n): return n and 1 + f(n - 1)",
        "def f(n): return n and 1 + sum(f(n - 1) for _ in [0])",
        "def f(n): return n and 1 + max(map(f, [n - 1]))",
        "class A:\n    def __init__(self, n): self.n = n\n    def __repr__(self): return repr(A(self.n - 1)) if self.n else ''\n\
         def f(n): return repr(A(n))",
    ];
    for recursion in recursions {
        let end = |depth: u32| {
            let program = format!("import sys\nsys.setrecursionlimit(10**6)\n{recursion}\nf({depth})");
            // Thousands of frames are unwound.
            let limits = Limits { fuel: 20_000_000_000, ..limits() };
            ends_and_harms_nobody(&Job { limits, ..script(&program) })
        };
        assert_eq!(end(20_000), ("Returned".to_owned(), String::new()), "{recursion}");
        assert_eq!(end(60_000), ("Raised".to_owned(), "RecursionError".to_owned()), "{recursion}");
    }
}

/// The interpreter's limit of 4,300 digits is for services whose time is not metered.
#[test]
fn integers_of_any_length_are_read_and_written() {
    let program = "import sys\nn = int(input())\nprint(str(n + 1) == '1' + '0' * 6000, sys.get_int_max_str_digits())";
    let outcome = run(&Job { stdin: "9".repeat(6000).into_bytes(), ..script(program) });
    assert_eq!(text(&outcome.stdout), "True 0\n", "{outcome:?}");
    check("print(len(str(10 ** 3_000_000)))", "Fuel", "");
}

#[test]
fn numbers_of_more_than_31_bits_are_those_of_other_machines() {
    for (program, expected) in [
        (
            "import sys\nbest = sys.maxsize\nfor x in (9 * 10**12, 5 * 10**12): best = min(best, x)\nprint(best)",
            "5000000000000\n",
        ),
        (
            "from sys import maxsize as most\nimport sys as s\nprint(most, -s.maxsize - 1)",
            "9223372036854775807 -9223372036854775808\n",
        ),
        ("import sys\nmatch 2**63 - 1:\n    case sys.maxsize: print('most')", "most\n"),
        ("import sys\ndef f(sys): return sys.maxsize\nclass C: maxsize = 5\nprint(f(C), C.maxsize)", "5 5\n"),
        ("import sys\nclass sys: maxsize = 3\nprint(sys.maxsize)", "3\n"),
        ("import sys\nprint(getattr(sys, 'maxsize'))", "2147483647\n"),
        (
            "from bisect import *\nprint(bisect_left(range(10**18), 10**12, key=lambda x: x // 3), bisect(range(10**18), 10**12, key=lambda x: x // 3))",
            "3000000000000 3000000000003\n",
        ),
        (
            "import bisect\nkey = lambda x: x >= 7\nprint(bisect.bisect_left(range(10**18), True, 5, 10**17, key=key), bisect.bisect_left([1, 2, 2], 2), bisect.bisect([1, 2, 2], 2))",
            "7 1 3\n",
        ),
        // As CPython 3.11 on a 64-bit machine draws them.
        (
            "import random\nrandom.seed(1)\nprint(random.sample(range(10**10), 3), random.choice(range(10**15)))",
            "[9167024629, 3280387012, 1095513148] 856766499050875\n",
        ),
        (
            "import random\nrandom.seed(1)\nprint(random.sample(range(100), 3), random.choice('abc'), random.choices([1, 2], k=2))",
            "[17, 72, 97] a [1, 1]\n",
        ),
        (
            "import itertools, sys\nprint(list(itertools.islice('abc', 1, 10**12)), list(itertools.islice('ab', sys.maxsize)))",
            "['b', 'c'] ['a', 'b']\n",
        ),
        (
            "import csv, functools, sys\nprint(csv.field_size_limit(sys.maxsize))\n@functools.lru_cache(maxsize=sys.maxsize)\ndef f(n): return n\nprint(f(3))",
            "131072\n3\n",
        ),
        (
            "for make in (
    lambda: [0] * 10**12, lambda: 10**12 * 'ab', lambda: bytearray(10**12), lambda: list(range(10**12)), lambda: (0,) * 2**63,
    lambda: bytes(10**20), lambda: 1.5 * 10**400, lambda: list('ab') * 3 * int('2'), lambda: bytes(-1)
):
    try: print(make())
    except MemoryError as error: print('MemoryError', repr(str(error)))
    except Exception as error: print(type(error).__name__)
x = y = [1]
x *= int('3')
z = 'a'
try: z *= 10**12
except MemoryError: print(y, z)",
            "MemoryError ''\nMemoryError ''\nMemoryError ''\nMemoryError ''\nOverflowError\nOverflowError\nOverflowError\n\
             ['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b', 'a', 'b', 'a', 'b']\nValueError\n[1, 1, 1] a\n",
        ),
        // Where a text names no `MemoryError`, it sees this machine's.
        ("try: [0] * 10**12\nexcept Exception as error: print(type(error).__name__)", "OverflowError\n"),
    ] {
        let outcome = run(&script(program));
        assert_eq!(text(&outcome.stdout), expected, "{program}: {}", text(&outcome.stderr));
    }
    check("import sys\nprint(sys.maxsize", "CompileError", "CompileError");
    check("import itertools\nitertools.islice('ab', -1)", "Raised", "ValueError");
    check("import random\nrandom.sample(range(10**10), -1)", "Raised", "ValueError");
}

#[test]
fn libraries_of_the_image_are_imported_from_its_memory() {
    let program = "from sortedcontainers import SortedDict, SortedList, SortedSet
import sortedcontainers, sortedcontainers.sortedlist
s = SortedList([3, 1, 2])
s.add(0)
print(s, s.bisect_left(2), SortedDict(b=1, a=2), SortedSet('cab'), sortedcontainers.__version__, sortedcontainers.__file__)";
    let outcome = run(&script(program));
    let expected = "SortedList([0, 1, 2, 3]) 2 SortedDict({'a': 2, 'b': 1}) SortedSet(['a', 'b', 'c']) 2.4.0 \
                    /usr/local/lib/libraries/sortedcontainers/__init__.py\n";
    assert_eq!(text(&outcome.stdout), expected, "{}", text(&outcome.stderr));
    check("import sortedcontainers.no_such_part", "Raised", "ModuleNotFoundError");
}

/// In the types of a 64-bit machine, whatever the array's own.
#[test]
fn numpy_adds_up_integers_in_64_bits() {
    let program = "import numpy as np
a = np.arange(1, 100001)
print(int(a.sum()), np.sum(a), a.sum(axis=0).dtype, np.sum([2**31 - 1, 1]), np.prod([2**20, 2**20]), a.reshape(10, -1).sum(axis=1).dtype)
print((a > 5).sum(), np.array([1.5, 2]).sum(), np.array([200], np.uint8).sum().dtype, a.sum(dtype=np.int32), np.sum(5), np.sum(a, where=a < 5))
print(np.repeat([1, 2], np.array([[1, 0], [2, 0]]).sum(axis=1)), np.bincount(np.array([[1, 0]]).sum(axis=1)), a.mean(), a.max())";
    let outcome = run(&Job { limits: Limits { fuel: 20_000_000_000, ..limits() }, ..script(program) });
    let expected = "5000050000 5000050000 int64 2147483648 1099511627776 int64\n99995 3.5 uint64 705082704 5 10\n\
                    [1 2 2] [0 1] 50000.5 100000\n";
    assert_eq!(text(&outcome.stdout), expected, "{}", text(&outcome.stderr));
}

#[test]
fn matplotlib_draws_a_picture() {
    let program = "import matplotlib
matplotlib.use('Agg')
import matplotlib.pyplot as plt, os
plt.plot([1, 2], [3, 4], label='x')
plt.title('Title')
plt.legend()
plt.savefig('a.png')
print(open('a.png', 'rb').read(8), os.path.getsize('a.png') > 9000, plt.style.available[:2])";
    let limits = Limits { fuel: 20_000_000_000, file_bytes: 16 << 20, ..limits() };
    let outcome = run(&Job { limits, ..script(program) });
    let expected = "b'\\x89PNG\\r\\n\\x1a\\n' True ['Solarize_Light2', 'bmh']\n";
    assert_eq!(text(&outcome.stdout), expected, "{:?} {} {}", outcome.exit, outcome.fuel, text(&outcome.stderr));
}

#[test]
fn leaving_the_process_is_no_return() {
    check("import os\nos._exit(0)", "Trapped", "proc_exit");
    check("import os\nos._exit(3)", "Trapped", "proc_exit");
    check("import os\nos.abort()", "Trapped", "trap");
}

#[test]
fn a_script_that_exits_with_zero_has_returned_and_with_anything_else_has_raised() {
    for program in ["import sys; sys.exit()", "import sys; sys.exit(0)", "raise SystemExit"] {
        check(program, "Returned", "");
    }
    check("import sys; sys.exit(1)", "Raised", "SystemExit");
    check("import sys; sys.exit('no')", "Raised", "SystemExit");
}

#[test]
fn the_status_of_an_exit_is_that_of_cpython() {
    let status = |code: &str| run(&script(&format!("import sys; sys.exit({code})"))).exit_code;
    for (code, wanted) in
        [("3", 3), ("-1", 255), ("256", 0), ("True", 1), ("'no'", 1), ("'3'", 1), ("[0]", 1), ("3.0", 1)]
    {
        assert_eq!(status(code), Some(wanted), "{code}");
    }
    let shown = run(&script("class C:\n    def __str__(self): return '0'\nraise SystemExit(C())"));
    assert_eq!(shown.exit_code, Some(1));
}

#[test]
fn a_program_that_does_not_compile_is_told_from_one_that_raises() {
    for program in ["def f(:", "  x = 1", "if 1:\n\tx = 1\n        y = 2", "x = 'a", "a\0b", "return 1", "("] {
        check(program, "CompileError", "CompileError");
    }
    check("raise SyntaxError('mine')", "Raised", "SyntaxError");
    check("class CompileError(Exception): pass\nraise CompileError", "Raised", "CompileError");
    check("exec('def f(:')", "Raised", "SyntaxError");
    let error = run(&script("def f(:")).error.unwrap();
    assert!(error.message.starts_with("SyntaxError: "), "{error:?}");
}

#[test]
fn an_entry_that_is_missing_or_no_function_is_named_so() {
    for program in ["g = 1", "f = 1", "def g(): pass"] {
        let outcome = run(&calls(program, vec![vec![]]));
        assert_eq!(end_of(&outcome), ("MissingEntry".to_owned(), "MissingEntry".to_owned()), "{program}");
    }
}

#[test]
fn an_uncaught_exception_carries_kind_and_message_and_writes_a_traceback() {
    let outcome = run(&script("def g(): return {}['k']\ng()"));
    let error = outcome.error.unwrap();
    assert_eq!((outcome.exit, error.kind.as_str(), error.message.as_str()), (Exit::Raised, "KeyError", "'k'"));
    let stderr = text(&outcome.stderr);
    assert!(
        stderr.contains("File \"<program>\", line 1, in g") && stderr.contains("def g(): return {}['k']"),
        "{stderr}"
    );
}

#[test]
fn an_exception_that_lies_or_fails_about_itself_is_still_one() {
    check("class E(Exception):\n    def __str__(self): raise KeyError\nraise E", "Raised", "E");
    check("class E(Exception):\n    def __str__(self): return 5\nraise E", "Raised", "E");
    check("raise Exception('\\ud800')", "Raised", "Exception");
    check(
        "class M(type):\n    __name__ = property(lambda s: 1/0)\nclass E(Exception, metaclass=M): pass\nraise E",
        "Raised",
        "E",
    );
    check("class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E", "Fuel", "");
    check("raise type('E' * 100000, (Exception,), {})('m' * 100000)", "Raised", &"E".repeat(100));
    assert_eq!(run(&script("raise Exception('é' * 100000)")).error.unwrap().message, "é".repeat(200));
}

#[test]
fn nothing_of_the_host_can_be_read() {
    for path in [
        "/etc/passwd",
        "/proc/self/environ",
        "../../etc/passwd",
        "/tmp/../etc/passwd",
        "/usr/local/lib/../../../etc/passwd",
    ] {
        check(&format!("open({path:?})"), "Raised", "FileNotFoundError");
    }
    let listing = run(&script("import os\nprint(sorted(os.listdir('/')), os.getcwd(), sorted(os.environ))"));
    assert_eq!(
        text(&listing.stdout),
        "['dev', 'tmp', 'usr', 'work'] /work ['HOME', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'PYTHONTZPATH', 'TMPDIR']\n"
    );
    check("open('/usr/local/lib/python315.zip', 'ab')", "Raised", "OSError");
    check("open('/new', 'w')", "Raised", "OSError");
}

#[test]
fn processes_and_sockets_are_not_there() {
    check("import subprocess\nsubprocess.run(['ls'])", "Raised", "OSError");
    let ended = ends_and_harms_nobody(&script("import socket\ns = socket.socket()\ns.connect(('127.0.0.1', 80))"));
    assert_eq!(ended.0, "Raised", "{ended:?}");
}

#[test]
fn files_of_the_job_lie_in_the_working_directory_and_can_be_changed() {
    let program = "import os
assert open('data/in.txt').read() == 'seed'
with open('data/in.txt', 'a') as f: f.write('!')
os.rename('data/in.txt', 'out.txt')
os.mkdir('d'); os.rmdir('d'); os.remove('data/other')
print(open('out.txt').read(), sorted(os.listdir('.')), os.listdir('data'), os.path.getsize('/work/out.txt'))";
    let mut job = script(program);
    job.files = vec![("data/in.txt".to_owned(), b"seed".to_vec()), ("data/other".to_owned(), vec![])];
    assert_eq!(text(&run(&job).stdout), "seed! ['data', 'out.txt'] [] 5\n");
    // The next job has its own.
    assert_eq!(text(&run(&script("import os\nprint(os.listdir('.'))")).stdout), "[]\n");
}

#[test]
fn a_job_that_cannot_be_run_as_written_is_refused() {
    for path in ["/abs", "../up", "a/../b", "", "a//b", "nul\0"] {
        let mut job = script("");
        job.files = vec![(path.to_owned(), vec![])];
        assert!(matches!(sandbox().execute(&job), Err(ExecuteError::BadJob(_))), "{path:?}");
    }
    let mut job = script("");
    job.files = vec![("a".to_owned(), vec![]), ("a/b".to_owned(), vec![])];
    assert!(matches!(sandbox().execute(&job), Err(ExecuteError::BadJob(_))));
    let mut job = script("");
    job.limits.memory_bytes = 1 << 20;
    assert!(matches!(sandbox().execute(&job), Err(ExecuteError::BadJob(_))));
    let mut job = script("");
    job.limits.fuel = (1 << 53) + 1;
    assert!(matches!(sandbox().execute(&job), Err(ExecuteError::BadJob(why)) if why.contains("9007199254740993")));
    job.limits.fuel = 0;
    assert!(matches!(run(&job).exit, Exit::Exceeded { limit: LimitKind::Fuel, .. }));
    let mut job = script("");
    job.image = "ruby".to_owned();
    assert!(matches!(sandbox().execute(&job), Err(ExecuteError::UnknownImage(name)) if name == "ruby"));
}

#[test]
fn the_deadline_ends_what_fuel_does_not_see() {
    let mut job = script("x = bytearray(32 << 20)\ny = bytearray(32 << 20)\nwhile True: x[:] = y");
    job.limits.fuel = 1 << 53;
    job.limits.deadline_ns = 300_000_000;
    let (exit, _) = ends_and_harms_nobody(&job);
    assert_eq!(exit, "DeadlineNs");
    job.limits.deadline_ns = u64::MAX;
    job.limits.fuel = 20_000_000;
    assert!(matches!(run(&job).exit, Exit::Exceeded { limit: LimitKind::Fuel, .. }));
}

#[test]
fn a_sleep_costs_fuel_and_no_time_and_a_busy_wait_ends() {
    let program = "import time\nt = time.time()\ntime.sleep(86400)\nprint(86400 <= time.time() - t < 86401)
t = time.monotonic()\nwhile time.monotonic() < t + 1: pass\nprint('waited')";
    let sleeping = Job { sleep_fuel: 1000, ..script(program) };
    let outcome = run(&sleeping);
    assert_eq!(text(&outcome.stdout), "True\nwaited\n");
    assert_eq!(outcome.fuel - run(&Job { sleep_fuel: 0, ..sleeping }).fuel, 86_400_000);
    // A sleep beyond the time limit meets it.
    check("import time\ntime.sleep(86400)", "Fuel", "");
}

#[test]
fn dataclasses_exit_functions_and_imports_work_as_under_python() {
    let program = "import atexit, sys
from dataclasses import dataclass
from typing import get_type_hints
@dataclass
class P:
    x: int
    y: 'list[int]'
atexit.register(print, 'bye')
print(P(1, [2]), get_type_hints(P)['y'], sys.modules['__main__'].P is P, sys.argv)
import csv, argparse, asyncio";
    let outcome = run(&script(program));
    assert_eq!(text(&outcome.stdout), "P(x=1, y=[2]) list[int] True ['<program>']\nbye\n", "{}", text(&outcome.stderr));
}

//! Scripts as people write them for contests: threads for a deep stack, memoised recursion, long integers, `os._exit`. None of it is an
//! attack, and each was refused once.

use veriplay_core::{Limits, Problem, Status, TestCode, TestStyle, Trust, Value, Verdict};
use veriplay_verifier::{ProblemRequest, judge_program};

use super::{LIMITS, LONG, judge_by_tests, python};

/// The verdict on a script by one run.
fn printed(program: &str, stdin: &str, stdout: &str) -> Verdict {
    let problem = Problem::stdio("t", [(stdin.to_owned(), stdout.to_owned())]);
    let limits = Limits { fuel: 20_000_000_000, ..LIMITS };
    judge_program(python(), &ProblemRequest { limits, ..ProblemRequest::new(&problem, program) }).unwrap()
}

#[test]
fn the_idioms_of_contests_are_accepted_and_judged_by_what_they_print() {
    let nines = "9".repeat(5000);
    for (program, stdin, stdout) in [
        (
            "import sys, threading\ndef main():\n    print(int(input()) + 1)\nthreading.stack_size(1 << 26)\nthreading.Thread(target=main).start()\n",
            "1\n",
            "2\n",
        ),
        (
            "import sys\nfrom functools import cache\nsys.setrecursionlimit(10**6)\n@cache\ndef f(n):\n    return 1 if n < 2 else (f(n - 1) + f(n - 2)) % 1000007\nprint(f(int(input())))\n",
            "20000\n",
            "976725\n",
        ),
        ("print(int(input()) * 1)", &nines, &nines),
        (
            "import asyncio\nasync def main():\n    await asyncio.sleep(0.1)\n    print(input())\nasyncio.run(main())",
            "a\n",
            "a\n",
        ),
        (
            "from sortedcontainers import SortedList\nprint(*SortedList(map(int, input().split())))",
            "3 1 2\n",
            "1 2 3\n",
        ),
        ("import os, sys\nprint(5)\nsys.stdout.flush()\nos._exit(0)\n", "", "5\n"),
        ("import os\nos.write(1, b'5\\n')\nos._exit(0)\n", "", "5\n"),
        ("import os\nout = os.fdopen(1, 'w', 1 << 16)\nout.write('5')\n", "", "5\n"),
    ] {
        let verdict = printed(program, stdin, stdout);
        assert_eq!(verdict.status, Status::Accepted, "{program}: {}", verdict.evidence.detail);
        let verdict = printed(program, stdin, "other\n");
        assert_eq!(verdict.status, Status::WrongAnswer, "{program}: {}", verdict.evidence.detail);
    }
}

#[test]
fn a_script_that_leaves_early_is_judged_by_what_it_has_written_and_another_status_is_an_error() {
    for (program, status) in [
        ("import os\nprint(5)\nos._exit(0)", Status::WrongAnswer),
        ("import os\nprint(5, flush=True)\nos._exit(3)", Status::RuntimeError),
        ("import os\nprint(5, flush=True)\nos.abort()", Status::RuntimeError),
        ("print(5, flush=True)\nraise SystemExit(3)", Status::RuntimeError),
        ("import threading\nprint(5)\nthreading.Event().wait()", Status::RuntimeError),
    ] {
        let verdict = printed(program, "", "5\n");
        assert_eq!(verdict.status, status, "{program}: {}", verdict.evidence.detail);
    }
}

#[test]
fn leaving_early_is_no_normal_end_where_results_are_due() {
    let program = "import os\ndef f(x):\n    os._exit(0)";
    let problem = Problem::calls("f", [(vec![Value::int(1)], Value::None)]);
    let verdict = judge_program(python(), &ProblemRequest { limits: LIMITS, ..ProblemRequest::new(&problem, program) });
    assert_eq!(verdict.unwrap().status, Status::RuntimeError);
    let asserts = TestCode::new(Trust::Split, TestStyle::Asserts(vec!["assert f(1) is None".to_owned()]));
    assert_eq!(judge_by_tests(asserts, program, LONG).status, Status::RuntimeError);
}

#[test]
fn tests_may_start_threads_and_ask_programs_that_do() {
    let asserts = |text: &str| TestCode {
        setup: "if True:\n    import sys, threading".to_owned(),
        ..TestCode::new(Trust::Split, TestStyle::Asserts(vec![text.to_owned()]))
    };
    let program = "import sys, threading\nfrom concurrent.futures import ThreadPoolExecutor\n\
                   def f(xs):\n    with ThreadPoolExecutor() as pool:\n        return sum(pool.map(abs, xs))\n\
                   def least(xs):\n    found = sys.maxsize\n    for x in xs:\n        found = min(found, x)\n    return found";
    for (text, status) in [
        ("assert f([1, -2]) == 3", Status::Accepted),
        ("assert f([1, -2]) == 4", Status::WrongAnswer),
        ("assert least([10**12]) == 10**12 and least([]) == sys.maxsize == 2**63 - 1", Status::Accepted),
        ("assert least([]) == 2**31 - 1", Status::WrongAnswer),
    ] {
        let verdict = judge_by_tests(asserts(text), program, Limits { fuel: 20_000_000_000, ..LONG });
        assert_eq!(verdict.status, status, "{text}: {}", verdict.evidence.detail);
    }
}

//! The guest is CPython: what it prints is what the native `python3` prints. Programs are the project's own corpus and,
//! where its file is present, CRUXEval. Without a `python3` the tests say so and pass.

use std::io::Write;
use std::process::{Command, Stdio};

use rayon::prelude::*;
use veriplay_core::{Checks, Execute, Exit, Job, Value};
use veriplay_corpus::{SeedTriplet, built_in_seeds};
use veriplay_tests::external::report_skipped;

use super::{LIMITS, python};

/// What `python3` prints for each program, all in one process, each in a namespace of its own.
fn native(programs: &[String]) -> Option<Vec<String>> {
    const RUNNER: &str = "import contextlib, io, json, sys
for line in sys.stdin:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(json.loads(line), '<program>', 'exec'), {'__name__': '__main__'})
        except BaseException as error:
            print(type(error).__name__)
    print(json.dumps(out.getvalue()))";
    let mut command = Command::new("python3");
    command.args(["-I", "-S", "-c", RUNNER]).env("PYTHONHASHSEED", "0").stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        report_skipped("there is no `python3` to compare with");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let lines: String = programs.iter().map(|text| serde_json::to_string(text).unwrap() + "\n").collect();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn guest(program: &str) -> String {
    let job = Job { limits: LIMITS, ..Job::script(program) };
    let outcome = python().execute(&job).unwrap();
    let raised = match (&outcome.exit, &outcome.error) {
        (Exit::Returned, _) => String::new(),
        (_, Some(error)) => format!("{}\n", error.kind),
        (exit, None) => format!("{exit:?}\n"),
    };
    String::from_utf8(outcome.stdout).unwrap() + &raised
}

fn assert_same(programs: &[String]) {
    let Some(native) = native(programs) else { return };
    assert_eq!(native.len(), programs.len());
    let differs = |(program, wanted): (&String, &String)| {
        let found = guest(program);
        (found != *wanted).then(|| format!("{program}\n--- python3:\n{wanted}--- guest:\n{found}"))
    };
    let different: Vec<String> = programs.par_iter().zip(&native).filter_map(differs).collect();
    assert!(different.is_empty(), "{} of {}:\n{}", different.len(), programs.len(), different.join("\n"));
}

#[test]
fn the_projects_own_programs_print_the_same() {
    let calls = |seed: SeedTriplet| {
        let call = |input: &Vec<Value>| format!("{}\nprint(repr(f({})))\n", seed.program, Value::arguments_text(input));
        seed.inputs.iter().map(call).collect::<Vec<_>>()
    };
    let mut programs: Vec<String> = built_in_seeds().into_iter().flat_map(calls).collect();
    assert!(programs.len() > 20);
    programs.extend(LANGUAGE.iter().map(|text| (*text).to_owned()));
    assert_same(&programs);
}

#[test]
fn cruxeval_programs_print_the_same() {
    let call = |problem: veriplay_core::Problem| match problem.checks {
        Checks::Prediction(prediction) => format!("{}\nprint(repr(f({})))\n", prediction.program, prediction.input),
        _ => panic!("{} is no prediction", problem.task_id),
    };
    let programs: Vec<String> =
        super::public_sets::problems("cruxeval.jsonl", "cruxeval").into_iter().map(call).collect();
    assert_same(&programs);
}

/// Where interpreters differ first: numbers, text, errors, hashing, ordering, the parts of the library in C.
const LANGUAGE: &[&str] = &[
    "print(2 ** 200, -7 // 2, -7 % 3, divmod(-7, 2), round(2.5), round(-0.5), 1e16, 1e-5, 0.1 + 0.2, 1 / 3)",
    "print(float('nan'), float('-inf'), -0.0, 1e308 * 10, 5e-324, 3.0, 1e22, 123456789.123456789)",
    "import math\nprint(math.sin(1), math.exp(1), math.gamma(5.5), math.fsum([.1] * 10), math.isqrt(10 ** 20), math.pi)",
    "print('é'.encode(), 'ß'.upper(), 'İ'.lower(), '\\u00e9'.casefold(), ascii('日本'), 'a\\tb'.expandtabs(), '%5.2f|%-4s|%x' % (1.5, 'a', 255))",
    "print(sorted({'b': 1, 'a': 2}.items()), {3, 1, 2}, frozenset([1]), sorted({'x', 'y', 'z'}), hash(7), hash(True))",
    "print(1 // 0)",
    "print([][1])",
    "print({}['k'])",
    "int('x')",
    "assert 1 == 2, 'no'",
    "import re\nprint(re.findall(r'(\\w)(\\d+)', 'a1 b22 c333'), re.sub('(?P<x>.)', r'<\\g<x>>', 'ab'))",
    "import json\nprint(json.dumps({'a': [1, 2.5, None, True, 'é']}), json.loads('{\"b\": 1e3}'))",
    "import itertools, functools, collections\nprint(list(itertools.permutations('abc', 2)), functools.reduce(lambda a, b: a * b, range(1, 9)), collections.Counter('banana').most_common())",
    "import random\nrandom.seed(7)\nprint(random.random(), random.randint(1, 100), random.sample(range(50), 5), random.shuffle(x := [1, 2, 3]), x)",
    "import decimal, fractions, statistics\nprint(decimal.Decimal('1.1') ** 20, fractions.Fraction(1, 3) + 1, statistics.stdev([1, 2, 4]))",
    "import datetime, hashlib, base64, struct, bisect, heapq\nprint(datetime.date(2024, 2, 29) + datetime.timedelta(days=366), hashlib.sha256(b'x').hexdigest(), base64.b64encode(b'abc'), struct.pack('<if', 1, 2.5), bisect.bisect([1, 3], 2), heapq.nsmallest(2, [3, 1, 2]))",
    "from dataclasses import dataclass\n@dataclass(order=True)\nclass P:\n    x: int\n    y: str = 'a'\nprint(P(1), P(1) < P(2), sorted([P(2), P(1, 'b')]))",
    "def g():\n    try:\n        yield 1\n    finally:\n        print('closed')\nfor x in g():\n    print(x)\n    break",
    "match {'k': [1, 2, 3]}:\n    case {'k': [a, *rest]}:\n        print(a, rest)",
    "try:\n    raise ExceptionGroup('g', [ValueError(1), TypeError(2)])\nexcept* ValueError as e:\n    print(e.exceptions)\nexcept* TypeError as e:\n    print(len(e.exceptions))",
];

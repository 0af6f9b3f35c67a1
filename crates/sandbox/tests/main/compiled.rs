//! Jobs of C++ and C: the cases of the toolchain's folder in threads and in processes, and what is kept of a program. The toolchain takes minutes to
//! build, so `VERIPLAY_TEST_CPP` asks for these tests.

use std::io::Write as _;
use std::sync::{Arc, OnceLock};

use veriplay_core::{Execute, ExecuteError, Exit, InteractionEnd, Interactor, Job, LimitKind, Limits, Outcome};
use veriplay_image_cpp::CASES;
use veriplay_sandbox::{CompiledSandbox, ImageStore, SandboxOptions, Toolchain, default_cache_dir};

use crate::support::{Case, cases, end_of, python, text};
use crate::workers;

/// The toolchain of this user's cache, built on first use, where these tests are asked for.
fn toolchain() -> Option<Arc<Toolchain>> {
    static FOUND: OnceLock<Arc<Toolchain>> = OnceLock::new();
    if std::env::var_os("VERIPLAY_TEST_CPP").is_none() {
        let _ = writeln!(std::io::stderr(), "SKIPPED a test of C++: VERIPLAY_TEST_CPP is not set");
        return None;
    }
    Some(Arc::clone(FOUND.get_or_init(open)))
}

fn open() -> Arc<Toolchain> {
    let store = ImageStore::open(&default_cache_dir().unwrap()).unwrap();
    store.load_or_build_toolchain(&|_| {}).unwrap_or_else(|error| panic!("{error}; hint: {:?}", error.hint()))
}

fn job(file: &str, case: &Case) -> Job {
    let image = if file == "c.txt" { "c" } else { "cpp" };
    let limits = Limits { fuel: 1_000_000_000, ..Toolchain::default_limits() };
    let stdin = case.part("stdin").unwrap_or_default().into();
    Job { image: image.to_owned(), limits, stdin, seed: 7, ..Job::script(case.program.clone()) }
}

#[test]
fn every_case_ends_as_it_says_and_the_same_in_processes() {
    let Some(toolchain) = toolchain() else { return };
    let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
    let threads = CompiledSandbox::new(Arc::clone(&toolchain), options).unwrap();
    let processes = CompiledSandbox::in_processes(toolchain, options, workers::program());
    for (file, data) in CASES {
        for case in cases(data) {
            let job = job(file, &case);
            let outcome = threads.execute(&job).unwrap();
            case.check(&outcome);
            assert_eq!(threads.execute(&job).unwrap(), outcome, "{}", case.title);
            let mut in_process = processes.execute(&job).unwrap();
            if outcome.error.as_ref().is_some_and(|error| error.kind == "stack_overflow") {
                // The workers are another executable, which takes some bytes more or less of the native stack before the program's first call.
                in_process.fuel = outcome.fuel;
            }
            assert_eq!(in_process, outcome, "{}", case.title);
        }
    }
}

#[test]
fn a_text_that_takes_the_compiler_too_long_does_not_compile() {
    let Some(toolchain) = toolchain() else { return };
    let sandbox = CompiledSandbox::new(toolchain, SandboxOptions::fastest()).unwrap();
    let endless = "constexpr int f(int n) { int s = 0; for (int i = 0; i < 20000; i++) s += (i ^ n) % 3; return s; }\n\
                   template <int N> struct A { static const int v = f(N) + A<N - 1>::v; };\n\
                   template <> struct A<0> { static const int v = 0; };\n\
                   int main() { return A<300>::v != 0; }";
    let outcome = sandbox.execute(&Job { image: "cpp".to_owned(), ..Job::script(endless) }).unwrap();
    assert_eq!((end_of(&outcome).as_str(), outcome.fuel), ("CompileError compiler_limit", 0));
    assert_eq!(outcome.compilation.and_then(|took| took.exceeded), Some(LimitKind::Fuel));
    let nested = format!("int main() {{ return {}1{}; }}", "(".repeat(100_000), ")".repeat(100_000));
    let outcome = sandbox.execute(&Job { image: "c".to_owned(), ..Job::script(nested) }).unwrap();
    assert_eq!(outcome.exit, Exit::CompileError, "{outcome:?}");
    // A job may have less.
    let short = Job { image: "c".to_owned(), limits: Toolchain::default_limits(), ..Job::script("int main() {}") };
    let took = sandbox.execute(&short).unwrap().compilation.unwrap();
    let within = |fuel| sandbox.execute(&Job { compile_fuel: Some(fuel), ..short.clone() }).unwrap();
    assert_eq!((within(took.fuel * 2).exit, within(took.fuel / 2).exit), (Exit::Returned, Exit::CompileError));
    assert_eq!(within(took.fuel / 2).compilation.and_then(|took| took.exceeded), Some(LimitKind::Fuel));
}

/// A checker of one whole number from 1 to 100, which has two right answers and gives points for a third.
const CHECKER: &str = r#"#include "testlib.h"
using namespace std;
int main(int argc, char *argv[]) {
    registerTestlibCmd(argc, argv);
    int n = inf.readInt(1, 100, "n"), found = ouf.readInt(1, 100, "found"), wanted = ans.readInt();
    if (n == 100) quitf(_fail, "%s is no task", vtos(n).c_str());
    if (found == wanted || found == n) quitf(_ok, "%d%s answer", found, englishEnding(found).c_str());
    if (found == n + 1) quitp(0.5, "nearly %d", n);
    quitf(_wa, "%s", format("expected %d, found %d", wanted, found).c_str());
}
"#;

#[test]
fn a_checker_of_testlibs_ends_by_the_status_of_its_verdict() {
    let Some(toolchain) = toolchain() else { return };
    let sandbox = CompiledSandbox::new(toolchain, SandboxOptions::fastest()).unwrap();
    for (texts, status, told) in [
        (["7", " 3\n", "3"], None, "ok 3rd answer\n"),
        (["7", "7", "3"], None, "ok 7th answer\n"),
        (["7", "4", "3"], Some(1), "wrong answer expected 3, found 4\n"),
        (["7", "101", "3"], Some(1), "wrong answer found 101 is not within 1 and 100\n"),
        (["7", "x", "3"], Some(2), "wrong output format a whole number was expected, and found is 'x'\n"),
        (["7", "3 3", "3"], Some(2), "wrong output format there is more output than there should be\n"),
        (["7", "8", "3"], Some(7), "points 0.5 nearly 7\n"),
        (["7", "", "3"], Some(2), "wrong output format the file ends where a word was expected\n"),
        (["100", "3", "3"], Some(3), "FAIL 100 is no task\n"),
        (["7", "3", ""], Some(3), "FAIL the file ends where a word was expected (answer)\n"),
    ] {
        let outcome = run_checker(&sandbox, CHECKER, texts);
        assert_eq!((outcome.exit_code, text(&outcome.stderr).as_str()), (status, told), "{texts:?}: {outcome:?}");
    }
}

/// A checker that reads two lines of numbers, a line with one, and a text.
const LINES: &str = r#"#include "testlib.h"
int main(int argc, char *argv[]) {
    registerTestlibCmd(argc, argv);
    std::string found;
    for (int line = 0; line < 2; line++) {
        while (!ouf.seekEoln()) found += ouf.readWord("[0-9]{1,3}.[0-9]") + " ";
        found += "/";
    }
    ouf.readInt();
    ouf.readEoln();
    found += ouf.readLine();
    quitf(_ok, "%s", found.c_str());
}
"#;

#[test]
fn a_checker_of_testlibs_takes_the_ends_of_lines_which_the_end_of_the_file_is_too() {
    let Some(toolchain) = toolchain() else { return };
    let sandbox = CompiledSandbox::new(toolchain, SandboxOptions::fastest()).unwrap();
    for (output, status, told) in [
        ("1.5 2.0 \r\n3.5\n7\nthe end", None, "ok 1.5 2.0 /3.5 /the end\n"),
        ("\n\n7", None, "ok //\n"),
        ("1x5\n\n7\n", Some(1), "wrong answer word '1x5' does not match '[0-9]{1,3}.[0-9]'\n"),
        ("1.5\n2.5\n7 \n", Some(2), "wrong output format the end of a line was expected\n"),
        ("1.5\n", Some(2), "wrong output format the file ends where a word was expected\n"),
    ] {
        let outcome = run_checker(&sandbox, LINES, ["", output, ""]);
        assert_eq!((outcome.exit_code, text(&outcome.stderr).as_str()), (status, told), "{output:?}: {outcome:?}");
    }
}

/// Runs a checker on the texts of an input, an output and an answer.
fn run_checker(sandbox: &CompiledSandbox, checker: &str, texts: [&str; 3]) -> Outcome {
    let names = ["input.txt", "output.txt", "answer.txt"];
    let files = names.iter().zip(texts).map(|(name, text)| ((*name).to_owned(), text.into())).collect();
    let arguments = names.map(str::to_owned).to_vec();
    let (image, limits) = ("cpp".to_owned(), Toolchain::default_limits());
    sandbox.execute(&Job { image, limits, files, arguments, ..Job::script(checker) }).unwrap()
}

/// An interactor that has a number, and takes ten questions.
const GUESS: &str = r#"#include "testlib.h"
int main(int argc, char *argv[]) {
    registerInteraction(argc, argv);
    const int secret = inf.readInt();
    for (int question = 0; question < 10; question++) {
        const std::string kind = ouf.readWord("[?!]", "kind");
        const int asked = ouf.readInt(1, 100, "number");
        if (kind == "!") quitf(asked == secret ? _ok : _wa, "%d", asked);
        printf("%s\n", secret < asked ? "<" : ">=");
        fflush(stdout);
    }
    quitf(_wa, "too many questions");
}
"#;

const GUESSER: &str = r#"int main() {
    int least = 1, most = 100;
    while (least < most) {
        const int middle = (least + most + 1) / 2;
        std::cout << "? " << middle << std::endl;
        std::string answer;
        std::cin >> answer;
        if (answer == "<") most = middle - 1; else least = middle;
    }
    std::cout << "! " << least << std::endl;
}"#;

#[test]
fn a_program_in_cpp_talks_with_an_interactor_of_testlibs() {
    let Some(toolchain) = toolchain() else { return };
    let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
    let threads = CompiledSandbox::new(Arc::clone(&toolchain), options).unwrap();
    let processes = CompiledSandbox::in_processes(toolchain, options, workers::program());
    for (program, end, status, told) in [
        (GUESSER, InteractionEnd::Completed, None, "ok 42\n"),
        ("int main() { std::cout << \"! 7\"; }", InteractionEnd::InteractorFailed, Some(1), "wrong answer 7\n"),
        (
            "int main() { std::cout << \"? 700\"; }",
            InteractionEnd::InteractorFailed,
            Some(1),
            "is not within 1 and 100",
        ),
        ("int main() {}", InteractionEnd::InteractorFailed, Some(2), "the file ends where a word was expected"),
        ("int main() { int a; std::cin >> a; }", InteractionEnd::Deadlock, None, ""),
        ("int main() { return 1; }", InteractionEnd::ProgramFailed, None, ""),
        ("int main() {", InteractionEnd::ProgramFailed, None, ""),
    ] {
        let interactor = Interactor {
            image: None,
            program: GUESS.to_owned(),
            module: None,
            files: vec![("input.txt".to_owned(), b"42\n".to_vec()), ("answer.txt".to_owned(), Vec::new())],
            arguments: ["input.txt", "output.txt", "answer.txt"].map(str::to_owned).to_vec(),
            limits: Toolchain::default_limits(),
            seed: 8,
        };
        let (image, limits) = ("cpp".to_owned(), Toolchain::default_limits());
        let job = Job { image, limits, interactor: Some(interactor), ..Job::script(program) };
        let outcome = threads.execute(&job).unwrap();
        let of_other = outcome.interaction.as_deref().unwrap();
        assert_eq!((of_other.end, of_other.interactor.exit_code), (end, status), "{program}: {outcome:?}");
        assert!(text(&of_other.interactor.stderr).contains(told), "{program}: {of_other:?}");
        assert_eq!(processes.execute(&job).unwrap(), outcome, "{program}");
    }
}

/// Programs of Python and C++ whose interactors are in the other one. The last two look for the secret.
#[test]
fn programs_in_python_and_cpp_play_with_interactors_in_the_other_one() {
    let Some(toolchain) = toolchain() else { return };
    let options = SandboxOptions { max_parallel: 1, ..SandboxOptions::fastest() };
    let threads = CompiledSandbox::new(Arc::clone(&toolchain), options).unwrap().with_images(vec![python()]);
    let processes = CompiledSandbox::in_processes(toolchain, options, workers::program()).with_images(vec![python()]);
    let [cpp, py] = ["cpp", "python"];
    let [guess_py, guesser_py] = [include_str!("guess.py"), include_str!("guesser.py")];
    let peek = "#include <fstream>\nint main() { int n = 7; std::ifstream(\"input.txt\") >> n; std::cout << \"! \" << (n ? n : 7); }";
    let peek_py = "import os\nprint('!', open('input.txt').read() if os.path.exists('input.txt') else 7)";
    let (won, lost) = (InteractionEnd::Completed, InteractionEnd::InteractorFailed);
    for (program, interactor, end, said) in [
        ([py, guesser_py], [cpp, GUESS], won, "! 42\n"),
        ([cpp, GUESSER], [py, guess_py], won, "! 42\n"),
        ([py, "input()"], [cpp, GUESS], InteractionEnd::Deadlock, ""),
        ([cpp, "int main() { int a; std::cin >> a; }"], [py, guess_py], InteractionEnd::Deadlock, ""),
        ([cpp, "int main() {"], [py, guess_py], InteractionEnd::ProgramFailed, ""),
        ([py, guesser_py], [cpp, "int main() {"], lost, ""),
        ([py, guesser_py], [cpp, "int main() { return 3; }"], lost, "? 51\n"),
        ([cpp, peek], [py, guess_py], lost, "! 7"),
        ([py, peek_py], [cpp, GUESS], lost, "! 7\n"),
    ] {
        let ([image, text_of_program], [other_image, text_of_other]) = (program, interactor);
        let of_testlib = ["input.txt", "output.txt", "answer.txt"].map(str::to_owned).to_vec();
        let limits = Toolchain::default_limits();
        let interactor = Interactor {
            image: Some(other_image.to_owned()),
            program: text_of_other.to_owned(),
            module: None,
            files: vec![("input.txt".to_owned(), b"42\n".to_vec()), ("answer.txt".to_owned(), Vec::new())],
            arguments: if other_image == cpp { of_testlib } else { Vec::new() },
            limits,
            seed: 8,
        };
        let job = Job { image: image.to_owned(), limits, interactor: Some(interactor), ..Job::script(text_of_program) };
        let outcome = threads.execute(&job).unwrap();
        assert_eq!(outcome.interaction.as_ref().unwrap().end, end, "{program:?}: {outcome:?}");
        assert!(text(&outcome.stdout).ends_with(said), "{program:?}: {outcome:?}");
        assert_eq!(outcome.compilation.is_some(), image == cpp, "{program:?}");
        assert_eq!(processes.execute(&job).unwrap(), outcome, "{program:?}");
    }
    let none = Job { image: py.to_owned(), ..Job::script("") };
    assert!(matches!(threads.execute(&none), Err(ExecuteError::UnknownImage(_))));
}

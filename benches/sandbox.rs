//! What a job costs in the sandbox: an empty one, a small one, one of many calls, and each way of resetting an instance.

use criterion::{Criterion, Throughput};
use veriplay_core::{Entry, Execute, Exit, Job, Layer, LayerMount, LayerRoot, LayerStack, Limits, Value};
use veriplay_sandbox::{Layers, ResetMode, Sandbox, SandboxOptions};
use veriplay_tests::python_image;

const ASSERT_SMALL: &str = "def f(xs, k):
    total = 0
    for x in xs:
        total += x * k
    return total

assert f([], 3) == 0
assert f([3, 1, 4], 5) == 40
assert f([-1], 1) == -1
";

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    jobs(&mut criterion);
    resets(&mut criterion);
    layers(&mut criterion);
    criterion.final_summary();
}

fn jobs(criterion: &mut Criterion) {
    let sandbox = sandbox(ResetMode::Scan);
    let mut group = criterion.benchmark_group("sandbox");
    for (name, job) in [("empty", script("pass\n")), ("assert-small", script(ASSERT_SMALL)), ("64 calls", calls(64))] {
        group.throughput(Throughput::Elements(1));
        group.bench_function(name, |bencher| bencher.iter(|| run(&sandbox, &job)));
    }
    group.finish();
}

fn resets(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reset");
    for mode in [ResetMode::Scan, ResetMode::Remap, ResetMode::Fresh] {
        let (sandbox, job) = (sandbox(mode), script(ASSERT_SMALL));
        group.bench_function(format!("{mode:?}"), |bencher| bencher.iter(|| run(&sandbox, &job)));
    }
    group.finish();
}

/// What it costs a job that 500 files lie below it, and that one of them is hidden, which makes a tree of its own.
fn layers(criterion: &mut Criterion) {
    let files = (0..500).map(|file| (format!("pkg/sub{}/m{file}.py", file % 20), vec![b'#'; 4000]));
    let layer = Layer::new(files).expect("the paths make a tree");
    let mounted = LayerMount { layer: layer.digest().clone(), at: LayerRoot::Work };
    let sandbox = sandbox(ResetMode::Scan).with_layers([layer].into_iter().collect::<Layers>());
    let over = |without: &[&str]| {
        let without = without.iter().map(|path| (*path).to_owned()).collect();
        Job { base: Some(LayerStack { layers: vec![mounted.clone()], without }), ..script("pass\n") }
    };
    let jobs = [("none", script("pass\n")), ("500 files", over(&[])), ("499 of them", over(&["pkg/sub0/m0.py"]))];
    let mut group = criterion.benchmark_group("layers");
    for (name, job) in jobs {
        group.bench_function(name, |bencher| bencher.iter(|| run(&sandbox, &job)));
    }
    group.finish();
}

fn sandbox(reset: ResetMode) -> Sandbox {
    Sandbox::new(python_image(), SandboxOptions { max_parallel: 1, reset })
}

fn run(sandbox: &Sandbox, job: &Job) -> u64 {
    let outcome = sandbox.execute(job).expect("no host fault");
    assert_eq!(outcome.exit, Exit::Returned, "{:?}", outcome.error);
    outcome.fuel
}

fn script(program: &str) -> Job {
    Job { limits: Limits { output_bytes: 1 << 20, ..Limits::small() }, seed: 1, ..Job::script(program) }
}

fn calls(count: i32) -> Job {
    let list = |n| Value::List((0..n % 8).map(Value::int).collect());
    let arguments = (0..count).map(|n| vec![list(n), Value::int(n)]).collect();
    Job { entry: Entry::Calls { function: "f".to_owned(), arguments }, ..script(ASSERT_SMALL) }
}

//! Checks that need no suite: what one program leaves to the next, and which limits hold.

use std::time::Duration;

use anyhow::ensure;

use super::results::{FreshState, Limit, Metering};
use super::target::{RunEnding, RunLimits, Target};

/// How often each program of a pair runs: more often than a pool has workers on a small machine.
const RUNS: usize = 4;
/// How long a program of the checks of limits may run by the caller's clock; that of time is one second.
const PATIENCE: Duration = Duration::from_secs(15);
/// Bytes that the checks of limits allow.
const MEMORY_BYTES: u64 = 256 << 20;

/// A program that leaves something behind, and one that prints `found` or `absent`.
struct Trace {
    what: &'static str,
    leave: &'static str,
    look: &'static str,
}

/// The first must be answered by every peer: it shows that the programs run at all.
const TRACES: &[Trace] = &[
    Trace {
        what: "a global variable",
        leave: "leftover = 1\n",
        look: "try:\n    leftover\n    print('found')\nexcept NameError:\n    print('absent')\n",
    },
    Trace {
        what: "an attribute of a module",
        leave: "import math\nmath.leftover = 1\n",
        look: "import math\nprint('found' if hasattr(math, 'leftover') else 'absent')\n",
    },
    Trace {
        what: "a builtin",
        leave: "import builtins\nbuiltins.leftover = 1\n",
        look: "import builtins\nprint('found' if hasattr(builtins, 'leftover') else 'absent')\n",
    },
    Trace {
        what: "a temporary file",
        leave: "import os, tempfile\nopen(os.path.join(tempfile.gettempdir(), 'scoreboard-leftover'), 'w').write('1')\n",
        look: "import os, tempfile\npath = os.path.join(tempfile.gettempdir(), 'scoreboard-leftover')\nif os.path.exists(path):\n    \
               os.remove(path)\n    print('found')\nelse:\n    print('absent')\n",
    },
];

/// What earlier programs leave to later ones.
///
/// # Errors
/// When no program runs.
pub fn fresh_state(target: &Target) -> anyhow::Result<FreshState> {
    let mut state = FreshState::default();
    for trace in TRACES {
        let mut client = target.client()?;
        for _ in 0..RUNS {
            client.run(trace.leave, RunLimits::ROOMY);
        }
        let looks: Vec<String> =
            (0..RUNS).map(|_| client.run(trace.look, RunLimits::ROOMY).stdout.trim().to_owned()).collect();
        let list = if looks.iter().any(|look| look == "found") {
            &mut state.found
        } else if looks.iter().all(|look| look == "absent") {
            &mut state.absent
        } else {
            &mut state.unavailable
        };
        list.push(trace.what.to_owned());
    }
    let first = TRACES[0].what;
    ensure!(!state.unavailable.iter().any(|what| what == first), "a program that looks for {first} does not run");
    Ok(state)
}

/// Which limits hold.
///
/// # Errors
/// When a caller cannot be set up.
pub fn metering(target: &Target) -> anyhow::Result<Metering> {
    let cpu = cpu_limit(target)?;
    let fuel = if cpu.holds {
        fuel_limit(target)?
    } else {
        Limit { holds: false, evidence: "nothing limits its time".to_owned() }
    };
    Ok(Metering { cpu, memory: memory_limit(target)?, fuel })
}

fn run(target: &Target, program: &str, seconds: u64) -> anyhow::Result<(String, RunEnding, f64)> {
    let limits = RunLimits { seconds, memory_bytes: MEMORY_BYTES, patience: PATIENCE };
    let answer = target.client()?.run(program, limits);
    Ok((answer.stdout, answer.ending, answer.latency.as_secs_f64()))
}

fn cpu_limit(target: &Target) -> anyhow::Result<Limit> {
    // Some 20 seconds of a native interpreter. A loop that every part of Python has: one that fails at once meets no limit.
    const PROGRAM: &str = "i = 0\nwhile i < 400000000:\n    i = i + 1\nprint('done')\n";
    let (stdout, ending, seconds) = run(target, PROGRAM, 1)?;
    let holds = matches!(ending, RunEnding::Failed(_)) && !stdout.contains("done");
    Ok(Limit { holds, evidence: format!("{} after {seconds:.1} s, of 1 s allowed", describe(&ending)) })
}

fn memory_limit(target: &Target) -> anyhow::Result<Limit> {
    const PROGRAM: &str = "kept = []\nfor i in range(384):\n    kept.append('x' * 1048576)\nprint('kept', len(kept))\n";
    let (stdout, ending, _) = run(target, PROGRAM, 10)?;
    let holds = matches!(ending, RunEnding::Failed(_)) && !stdout.contains("kept 384");
    let got = if stdout.contains("kept 384") { "it got 384 MiB" } else { "it did not get 384 MiB" };
    Ok(Limit { holds, evidence: format!("{got} of 256 MiB allowed; {}", describe(&ending)) })
}

/// Whether a limit ends a program at the same step each time.
fn fuel_limit(target: &Target) -> anyhow::Result<Limit> {
    const PROGRAM: &str = "i = 0\nwhile True:\n    i = i + 1\n    if i % 20000 == 0:\n        print(i, flush=True)\n";
    let mut reached = Vec::new();
    for _ in 0..3 {
        let (stdout, ending, _) = run(target, PROGRAM, 1)?;
        let last = stdout.split_inclusive('\n').rfind(|line| line.ends_with('\n')).map_or("", str::trim).to_owned();
        if !matches!(ending, RunEnding::Failed(_)) || last.is_empty() {
            let evidence = format!("{}, and its last line is `{last}`", describe(&ending));
            return Ok(Limit { holds: false, evidence });
        }
        reached.push(last);
    }
    let same = reached.iter().all(|last| *last == reached[0]);
    Ok(Limit { holds: same, evidence: format!("three runs reached {}", reached.join(", ")) })
}

fn describe(ending: &RunEnding) -> String {
    match ending {
        RunEnding::Finished => "it ran to its end".to_owned(),
        RunEnding::Failed(why) => format!("it was ended ({why})"),
        RunEnding::Unanswered(why) => format!("nothing ended it ({why})"),
    }
}

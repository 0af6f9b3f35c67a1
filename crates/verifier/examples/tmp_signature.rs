use veriplay_core::Value;
use veriplay_sandbox::Sandbox;
use veriplay_verifier::{ProposalGate, SignatureRequest, signatures};
fn main() {
    let sandbox = Sandbox::python().unwrap();
    let limits = veriplay_core::Limits { fuel: 200_000_000, output_bytes: 1 << 20, ..veriplay_core::Limits::small() };
    let gate = ProposalGate {
        image: "python".to_owned(),
        second_image: None,
        limits,
        seeds: [1, 2],
        max_program_bytes: 2000,
        min_statements: None,
        max_statements: None,
        max_output_bytes: 200,
        probes: veriplay_verifier::ProbeRules { count: 6, min_succeeded: 3, min_distinct_outputs: 3 },
        induction: veriplay_verifier::InductionRules { visible: 2, hidden: 2, min_distinct_outputs: 2 },
    };
    let rows: [&[&str]; 6] = [
        &[
            "def f(x):\n    return sorted(x)\n",
            "# sorts\ndef g(items):\n  items = list(items)\n  items.sort()\n  return items\n\nf = g\n",
            "def f(x):\n    out = []\n    for i in x:\n        at = 0\n        while at < len(out) and out[at] <= i: at += 1\n        out.insert(at, i)\n    return out\n",
        ],
        &["def f(x):\n    return sorted(x)[::-1]\n", "def f(x):\n    return sorted(x, reverse=True)\n"],
        &[
            "def f(x):\n    return x[0]\n",
            "def f(x):\n    if not x: raise IndexError('nothing to take')\n    return x[0]\n",
        ],
        &["def f(x):\n    if not x: raise KeyError(0)\n    return x[0]\n"],
        &[
            "class E(Exception): pass\ndef f(x): raise E\n",
            "class Other(ValueError): pass\ndef f(x): raise Other('x')\n",
        ],
        &["def f(x):\n    while True: pass\n", "def f(x):\n    n = 0\n    while n >= 0: n += 1\n"],
    ];
    let input = [Value::List(vec![Value::int(7)])];
    let mut all = Vec::new();
    for (row, programs) in rows.iter().enumerate() {
        for p in *programs {
            all.push((row, SignatureRequest { program: p, input: &input }));
        }
    }
    let start = std::time::Instant::now();
    let signed = signatures(&sandbox, &gate, &all.iter().map(|one| one.1).collect::<Vec<_>>());
    println!("{:?}", start.elapsed());
    let mut wrong = 0;
    for (i, a) in all.iter().enumerate() {
        println!("{} {:?}", a.0, signed[i].as_ref().map(|d| d.short().to_owned()));
        for (j, b) in all.iter().enumerate() {
            if (a.0 == b.0) != (signed[i] == signed[j]) {
                wrong += 1;
                println!("differs: {i} {j}");
            }
        }
    }
    println!("wrong {wrong}");
}

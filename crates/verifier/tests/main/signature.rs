//! Signatures of programs: what counts as the same behaviour, and what has none.

use veriplay_core::{Digest, Exit, LimitKind, Value};
use veriplay_verifier::{SignatureRequest, signatures};

use crate::table::{Call, Gives, Table, arguments, calls, exceeded, gate, int_of};

fn sign(table: &Table, program: &str, input: &str) -> Option<Digest> {
    let input = arguments(input);
    signatures(table, &gate(), &[SignatureRequest { program, input: &input }]).remove(0)
}

/// What a program gives at 0, which is one of the inputs; at others it gives the square.
fn at_zero(gives: Gives) -> impl Fn(&Call<'_>) -> Gives {
    move |call| match int_of(&call.arguments[0]) {
        0 => gives.clone(),
        x => Gives::Value(Value::int(x * x)),
    }
}

#[test]
fn programs_that_do_the_same_share_a_signature_and_others_do_not() {
    // Neighbours in one row do the same.
    let rows: [&[Gives]; 8] = [
        &[Gives::Value(Value::int(0)), Gives::Value(Value::Float(0.0)), Gives::Value(Value::Bool(false))],
        &[Gives::Value(Value::int(1))],
        &[Gives::Value(Value::str("0"))],
        &[Gives::Raises("ValueError")],
        &[Gives::Raises("Odd"), Gives::Raises("Strange")],
        &[Gives::Unencodable, Gives::Bytes(b"no value".to_vec())],
        &[Gives::Stops(exceeded(LimitKind::Fuel))],
        &[Gives::Stops(exceeded(LimitKind::MemoryBytes))],
    ];
    let mut seen = Vec::new();
    for row in rows {
        let signed: Vec<Digest> =
            row.iter().map(|gives| sign(&Table::of(at_zero(gives.clone())), "p", "7").expect("a signature")).collect();
        assert!(signed.iter().all(|one| *one == signed[0]) && !seen.contains(&signed[0]), "row {}", seen.len());
        seen.push(signed[0].clone());
    }
    for (exit, kind) in [(Exit::Raised, "KeyError"), (Exit::Raised, "ValueError"), (Exit::CompileError, "SyntaxError")]
    {
        let signed = sign(&Table::default().with_module_end("p", exit, kind), "p", "7").expect("a signature");
        assert!(!seen.contains(&signed), "{kind} at module level");
        seen.push(signed);
    }
}

#[test]
fn what_the_host_or_the_clock_ended_has_no_signature() {
    for gives in [Gives::HostFault, Gives::Stops(exceeded(LimitKind::DeadlineNs))] {
        assert_eq!(sign(&Table::of(at_zero(gives)), "p", "7"), None);
    }
}

#[test]
fn the_inputs_are_fixed_by_the_types_of_the_arguments_and_equal_jobs_run_once() {
    let table = Table::of(|call| Gives::Value(call.arguments[0].clone())).with("q", |_| Gives::Value(Value::None));
    let inputs = ["7", "1_000_000_007", "'a'", "[[[[[[1]]]]]], {'k': (1, 2.5)}, {b'x'}, True", ""].map(arguments);
    let requests = [("p", 0), ("q", 0), ("p", 1), ("p", 2), ("q", 3), ("q", 4)];
    let requests = requests.map(|(program, input)| SignatureRequest { program, input: &inputs[input] });
    let signed = signatures(&table, &gate(), &requests);
    assert!(signed.iter().all(Option::is_some) && signed[0] == signed[2] && signed[0] != signed[3]);
    let jobs = table.jobs();
    assert_eq!(jobs.len(), 5);
    assert!(jobs.iter().all(|job| calls(job).len() == 8 && job.limits == gate().limits));
    let wide = jobs.iter().map(calls).find(|calls| calls[0].len() == 4).expect("the one of four arguments");
    let texts: Vec<String> = wide.iter().map(|arguments| Value::arguments_text(arguments)).collect();
    assert!(texts.iter().all(|text| text.len() < 2_000), "{texts:?}");
    let distinct: std::collections::HashSet<&String> = texts.iter().collect();
    assert_eq!(distinct.len(), 8, "{texts:?}");
}

//! What crossing the boundary costs on the host: encoding, decoding, comparing and reading values.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use veriplay_core::{EncodeCaps, Value};

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let small = Value::parse_repr("[1, 'a', (2.5, None), {'k': [True]}]").expect("a literal");
    let large =
        Value::List((0..1000).map(|n| Value::Tuple(vec![Value::int(n), Value::str(format!("word {n}"))])).collect());
    for (name, value) in [("small", small), ("1000 pairs", large)] {
        codec(&mut criterion, name, &value);
    }
    criterion.final_summary();
}

fn codec(criterion: &mut Criterion, name: &str, value: &Value) {
    let (bytes, text) = (value.encode(), value.to_string());
    let caps = EncodeCaps::with_bytes(1 << 20);
    let decoded = Value::decode(&bytes, caps).expect("what was encoded can be decoded");
    let mut group = criterion.benchmark_group(format!("value, {name}"));
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("encode", |bencher| bencher.iter(|| black_box(value).encode()));
    group.bench_function("decode", |bencher| bencher.iter(|| Value::decode(black_box(&bytes), caps)));
    group.bench_function("python_eq", |bencher| bencher.iter(|| black_box(value).python_eq(&decoded)));
    group.bench_function("parse_repr", |bencher| bencher.iter(|| Value::parse_repr(black_box(&text))));
    group.finish();
}

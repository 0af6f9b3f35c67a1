//! LiveCodeBench's packed tests under attack: a pickle is a program, a deflated text may be a bomb.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use proptest::prelude::*;
use veriplay_core::{Checks, ProblemRow, StdioCase};
use veriplay_corpus::ReadOptions;

use super::problem_formats::{fault, fault_with, only};

const TESTS: &str = r#"[{"input":"1\n","output":"é\n","testtype":"stdin"}]"#;

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

fn row_of_base64(text: &str) -> String {
    serde_json::json!({"question_id": "q", "public_test_cases": "[]", "private_test_cases": text, "metadata": "{}"})
        .to_string()
}

fn row(pickled: &[u8]) -> String {
    row_of_base64(&STANDARD.encode(deflated(pickled)))
}

fn refused(pickled: &[u8]) -> String {
    let bad = fault("livecodebench", &row(pickled));
    assert_eq!(bad.field, "private_test_cases");
    bad.reason
}

/// A `str` as each protocol writes it: front, opcode with its length, text, memo entry, end.
fn pickles(text: &str) -> Vec<Vec<u8>> {
    let (long, wide) = ((text.len() as u32).to_le_bytes(), (text.len() as u64).to_le_bytes());
    let frame = |body: &[u8]| [b"\x80\x04\x95".as_slice(), &(body.len() as u64).to_le_bytes(), body].concat();
    let unicode = [b"X".as_slice(), &long, text.as_bytes()].concat();
    let unicode8 = [b"\x8d".as_slice(), &wide, text.as_bytes()].concat();
    let mut all = vec![
        [unicode.as_slice(), b"q\x00."].concat(),
        [b"\x80\x02".as_slice(), &unicode, b"q\x00."].concat(),
        [b"\x80\x03".as_slice(), &unicode, b"r\x00\x01\x00\x00."].concat(),
        [b"\x80\x05".as_slice(), &unicode, b"\x94."].concat(),
        frame(&[unicode.as_slice(), b"\x94."].concat()),
        frame(&[unicode8.as_slice(), b"\x94."].concat()),
    ];
    if let Ok(short) = u8::try_from(text.len()) {
        all.push(frame(&[b"\x8c".as_slice(), &[short], text.as_bytes(), b"\x94."].concat()));
    }
    all
}

#[test]
fn a_string_pickled_by_any_protocol_is_read() {
    for pickled in pickles(TESTS) {
        let ProblemRow::Ready(problem) = only("livecodebench", &row(&pickled)) else { panic!("no problem") };
        let Checks::Stdio(stdio) = problem.checks else { panic!("no runs") };
        assert_eq!(stdio.cases, [StdioCase::new("1\n", "é\n")]);
    }
}

#[test]
fn opcodes_that_could_run_something_are_refused_by_name() {
    let attacks: &[(&[u8], &str)] = &[
        (b"cos\nsystem\n(S'true'\ntR.", "GLOBAL"),
        (b"\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93\x94\x8c\x04true\x94\x85\x94R\x94.", "second string"),
        (b"\x80\x04\x93.", "STACK_GLOBAL"),
        (b"\x80\x04\x8c\x02[]\x94R.", "REDUCE"),
        (b"\x80\x02)\x81}b.", "EMPTY_TUPLE"),
        (b"\x80\x02\x81.", "NEWOBJ"),
        (b"\x80\x04\x92.", "NEWOBJ_EX"),
        (b"\x80\x02b.", "BUILD"),
        (b"(ios\nsystem\n.", "MARK"),
        (b"ios\nsystem\n.", "INST"),
        (b"o.", "OBJ"),
        (b"Pid\n.", "PERSID"),
        (b"Q.", "BINPERSID"),
        (b"\x80\x02\x82\x01.", "EXT1"),
        (b"\x80\x02\x83\x01\x00.", "EXT2"),
        (b"\x80\x02\x84\x01\x00\x00\x00.", "EXT4"),
        (b"\x80\x05\x97.", "NEXT_BUFFER"),
        (b"\x80\x05\x96\x00\x00\x00\x00\x00\x00\x00\x00.", "BYTEARRAY8"),
        (b"V[]\np0\n.", "UNICODE"),
        (b"S'[]'\n.", "STRING"),
        (b"\x80\x02U\x02[].", "SHORT_BINSTRING"),
        (b"\x80\x03C\x02[].", "SHORT_BINBYTES"),
        (b"\x80\x02]q\x00.", "EMPTY_LIST"),
        (b"\x80\x02N.", "NONE"),
        (b"\x80\x02K\x01.", "BININT1"),
        (b"\x80\x04\x8c\x02[]\x940.", "POP"),
        (b"\x80\x04\x8c\x02[]\x94h\x00.", "BINGET"),
        (b"\x80\x02\xff.", "0xff"),
    ];
    for (pickled, name) in attacks {
        let reason = refused(pickled);
        assert!(reason.contains(name), "{name}: {reason}");
    }
}

#[test]
fn a_pickle_of_a_wrong_shape_is_refused() {
    let attacks: &[(&[u8], &str)] = &[
        (b".", "no string"),
        (b"\x80\x04.", "no string"),
        (b"\x80\x06\x8c\x02[].", "protocol above 5"),
        (b"\x8c\x02[]\x80\x04.", "does not stand first"),
        (b"\x80\x04\x8c\x02[].x", "bytes follow"),
        (b"\x80\x04\x8c\x02[]\x8c\x02[].", "second string"),
        (b"\x80\x04\x8c\x02\xff\xfe.", "not UTF-8"),
        (b"\x80\x04\x8c\x03\xed\xa0\x80.", "not UTF-8"),
    ];
    for (pickled, why) in attacks {
        let reason = refused(pickled);
        assert!(reason.contains(why), "{why}: {reason}");
    }
}

#[test]
fn a_pickle_cut_anywhere_is_truncated() {
    for pickled in pickles(TESTS) {
        for length in 0..pickled.len() {
            let reason = refused(&pickled[..length]);
            assert!(reason.contains("inside an opcode"), "{length}: {reason}");
        }
    }
}

#[test]
fn a_huge_length_allocates_nothing() {
    let huge: &[&[u8]] = &[
        b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff[].",
        b"\x80\x04\x8d\x00\x00\x00\x00\x00\x00\x00\x80[].",
        b"\x80\x02X\xff\xff\xff\xff[].",
        b"\x80\x04\x8c\xff[].",
    ];
    for pickled in huge {
        assert!(refused(pickled).contains("inside an opcode"));
    }
    // A frame's claim is not used: a wrong one changes nothing.
    let lying = [
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xff\x8c".as_slice(),
        &[TESTS.len() as u8],
        TESTS.as_bytes(),
        b"\x94.",
    ];
    only("livecodebench", &row(&lying.concat()));
}

#[test]
fn a_zlib_bomb_is_cut_at_the_cap() {
    let bomb = [b"\x80\x02X\x00\x00\x00\x04".as_slice(), &vec![b' '; 64 << 20], b"."].concat();
    let row = row(&bomb);
    assert!(row.len() < 1 << 17, "{} bytes", row.len());
    let options = ReadOptions { max_row_bytes: 1 << 17, ..ReadOptions::default() };
    let reason = fault_with("livecodebench", &row, &options).reason;
    assert!(reason.contains("inflates to more than 131072 bytes"), "{reason}");
}

#[test]
fn what_is_not_packed_at_all_says_which_layer() {
    let cases = [
        (STANDARD.encode(b"no zlib"), "is not zlib"),
        ("AAA".to_owned(), "base64"),
        (STANDARD.encode(&deflated(b"\x80\x04\x8c\x02[].")[..8]), "is not zlib"),
        (STANDARD.encode(deflated(b"\x80\x04\x8c\x02{].")), "holds no JSON"),
        (STANDARD.encode(deflated(b"\x80\x04\x8c\x02{}.")), "expected a list of tests"),
    ];
    for (text, why) in cases {
        let bad = fault("livecodebench", &row_of_base64(&text));
        assert!(bad.reason.contains(why), "{why}: {bad}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_bytes_are_refused_and_never_more(head in prop::sample::select(vec![&b""[..], b"\x80\x04", b"\x80\x04\x8c"]),
                                               bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let pickled = [head, &bytes].concat();
        // Nothing this short is a list with a test in it.
        prop_assert!(!refused(&pickled).is_empty());
    }
}

//! libFuzzer's entry point for the target `attempts`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (veriplay_fuzz::target("attempts").run)(bytes));

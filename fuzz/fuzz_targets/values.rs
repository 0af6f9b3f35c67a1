//! libFuzzer's entry point for the target `values`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (veriplay_fuzz::target("values").run)(bytes));

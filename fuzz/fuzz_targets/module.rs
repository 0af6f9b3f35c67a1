//! libFuzzer's entry point for the target `module`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (veriplay_fuzz::target("module").run)(bytes));

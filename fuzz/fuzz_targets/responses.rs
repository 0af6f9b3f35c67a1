//! libFuzzer's entry point for the target `responses`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (veriplay_fuzz::target("responses").run)(bytes));

//! libFuzzer's entry point for the target `literals`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (veriplay_fuzz::target("literals").run)(bytes));

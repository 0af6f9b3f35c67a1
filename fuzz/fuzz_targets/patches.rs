//! libFuzzer's entry point for the target `patches`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (veriplay_fuzz::target("patches").run)(bytes));

//! libFuzzer's entry point for the target `system_calls`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (veriplay_fuzz::target("system_calls").run)(bytes));

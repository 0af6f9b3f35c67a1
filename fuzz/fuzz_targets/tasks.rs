//! libFuzzer's entry point for the target `tasks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (veriplay_fuzz::target("tasks").run)(bytes));

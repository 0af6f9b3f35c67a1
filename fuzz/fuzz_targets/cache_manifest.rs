//! libFuzzer's entry point for the target `cache_manifest`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (veriplay_fuzz::target("cache_manifest").run)(bytes));

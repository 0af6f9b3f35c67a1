//! libFuzzer's entry point for the target `image_archives`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (veriplay_fuzz::target("image_archives").run)(bytes));

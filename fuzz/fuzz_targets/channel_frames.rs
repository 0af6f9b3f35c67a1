//! libFuzzer's entry point for the target `channel_frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (veriplay_fuzz::target("channel_frames").run)(bytes));

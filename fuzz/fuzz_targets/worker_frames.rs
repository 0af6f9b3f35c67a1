//! libFuzzer's entry point for the target `worker_frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (veriplay_fuzz::target("worker_frames").run)(bytes));

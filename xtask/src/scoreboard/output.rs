//! Reads what a process prints, up to a deadline, without a thread or a poll of its own: both would be a part of what is measured.

use std::io::Read;
use std::os::fd::AsFd;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The most bytes that are kept; the rest is read and dropped.
const KEPT: usize = 4 << 20;

/// Everything up to the end of the stream, and whether that came before the deadline.
pub(super) fn read_to_end(mut stream: impl Read + AsFd, deadline: Instant) -> (String, bool) {
    let (mut kept, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    let in_time = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let ready = {
            let mut fds = [PollFd::new(&stream, PollFlags::IN)];
            Timespec::try_from(left).is_ok_and(|left| poll(&mut fds, Some(&left)).is_ok_and(|ready| ready > 0))
        };
        if !ready && left.is_zero() {
            break false;
        }
        match if ready { stream.read(&mut buffer) } else { continue } {
            Ok(0) | Err(_) => break true,
            Ok(count) => kept.extend_from_slice(&buffer[..count.min(KEPT - kept.len())]),
        }
    };
    (String::from_utf8_lossy(&kept).into_owned(), in_time)
}

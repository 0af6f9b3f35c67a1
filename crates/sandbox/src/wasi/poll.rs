//! `poll_oneoff`: it returns at once. Descriptors are always ready, and a sleep is the virtual clock moving on, for fuel.

use super::Wasi;
use super::descriptors::Fd;
use super::errno::{Errno, SyscallResult};
use super::view::MemoryView;

const MAX_SUBSCRIPTIONS: i32 = 64;
const CLOCK: u8 = 0;
const ABSOLUTE: u16 = 1;

/// One subscription of the guest's.
struct Subscription {
    user_data: [u8; 8],
    tag: u8,
    /// Nanoseconds from now, for a clock.
    wait_ns: u64,
    errno: Option<Errno>,
    /// Bytes that can be read or written at once, for a descriptor.
    ready: u64,
}

impl Wasi {
    pub(crate) fn poll_oneoff(
        &mut self,
        view: &mut MemoryView<'_>,
        subs: i32,
        events: i32,
        count: i32,
        out: i32,
    ) -> SyscallResult {
        if !(1..=MAX_SUBSCRIPTIONS).contains(&count) {
            return Err(Errno::INVAL.into());
        }
        let subscriptions: Vec<Subscription> =
            view.bytes(subs, count * 48)?.chunks_exact(48).map(|raw| self.parse_subscription(raw)).collect();
        view.bytes(events, count * 32)?;
        self.tree.work.add_look_ups(subscriptions.len() as u64);
        let at_once = |sub: &Subscription| sub.tag != CLOCK || sub.errno.is_some();
        let waited = if subscriptions.iter().any(at_once) {
            0
        } else {
            subscriptions.iter().map(|sub| sub.wait_ns).min().unwrap_or(0)
        };
        self.clock.advance(waited);
        self.tree.work.add_sleep(waited, self.sleep_fuel);
        let due = subscriptions.iter().filter(|sub| at_once(sub) || sub.wait_ns <= waited);
        let mut written = 0;
        for sub in due {
            view.write(events.wrapping_add(written * 32), &Self::encode_event(sub))?;
            written += 1;
        }
        Ok(view.write_u32(out, written.cast_unsigned())?)
    }

    fn parse_subscription(&self, raw: &[u8]) -> Subscription {
        let u64_at = |at: usize| u64::from_le_bytes(raw[at..at + 8].try_into().expect("eight bytes"));
        let i32_at = |at: usize| i32::from_le_bytes(raw[at..at + 4].try_into().expect("four bytes"));
        let user_data = raw[..8].try_into().expect("eight bytes");
        let tag = raw[8];
        let (mut wait_ns, mut errno, mut ready) = (0, None, 1);
        match tag {
            CLOCK => match self.clock.peek(i32_at(16)) {
                Ok(now) if u16::from_le_bytes([raw[40], raw[41]]) & ABSOLUTE != 0 => {
                    wait_ns = u64_at(24).saturating_sub(now);
                }
                Ok(_) => wait_ns = u64_at(24),
                Err(fault) => errno = Some(fault),
            },
            1 | 2 => match self.fds.get(i32_at(16)) {
                Ok(Fd::File { node, offset, .. }) if tag == 1 => {
                    ready = self.tree.size(*node).unwrap_or(0).saturating_sub(*offset).max(1);
                }
                found => errno = found.err(),
            },
            _ => errno = Some(Errno::INVAL),
        }
        Subscription { user_data, tag, wait_ns, errno, ready }
    }

    fn encode_event(sub: &Subscription) -> [u8; 32] {
        let mut record = [0; 32];
        record[..8].copy_from_slice(&sub.user_data);
        record[8..10].copy_from_slice(&sub.errno.map_or(0, |errno| errno.0).to_le_bytes());
        record[10] = sub.tag;
        record[16..24].copy_from_slice(&sub.ready.to_le_bytes());
        record
    }
}

//! `poll_oneoff`: it returns at once. Descriptors are always ready, and a sleep is the virtual clock moving on, for fuel. But a pipe is ready when
//! there is something to read, or its end: a guest waits for that, or with a timeout passes its turn to the other guest first.

use super::Wasi;
use super::descriptors::Fd;
use super::errno::{Errno, SyscallResult};
use super::pipe::Pipe;
use super::view::MemoryView;

const MAX_SUBSCRIPTIONS: i32 = 64;
const CLOCK: u8 = 0;
const ABSOLUTE: u16 = 1;
/// The wait of a subscription that no clock ends.
const FOREVER: u64 = u64::MAX;

struct Subscription {
    user_data: [u8; 8],
    tag: u8,
    /// Nanoseconds until it is due: 0 for all but clocks, and [`FOREVER`] for a pipe that is not ready.
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
        let subscriptions = self.parse_subscriptions(view, subs, count)?;
        view.bytes(events, count * 32)?;
        self.tree.work.add_look_ups(subscriptions.len() as u64);
        let waited = subscriptions.iter().map(|sub| sub.wait_ns).min().unwrap_or(0);
        self.clock.advance(waited);
        self.tree.work.add_sleep(waited, self.sleep_fuel);
        let due = subscriptions.iter().filter(|sub| sub.wait_ns <= waited);
        let mut written = 0;
        for sub in due {
            view.write(events.wrapping_add(written * 32), &Self::encode_event(sub))?;
            written += 1;
        }
        Ok(view.write_u32(out, written.cast_unsigned())?)
    }

    /// The pipe that a `poll_oneoff` must wait for, and whether it must only look at it once the other guest has had its turn.
    pub(crate) fn awaited_by_poll(&self, view: &MemoryView<'_>, subs: i32, count: i32) -> Option<(Pipe, bool)> {
        let (_, pipe) = self.joined.as_ref().filter(|_| (1..=MAX_SUBSCRIPTIONS).contains(&count))?;
        let subscriptions = self.parse_subscriptions(view, subs, count).ok()?;
        let is_unready = |sub: &Subscription| sub.tag != CLOCK && sub.wait_ns == FOREVER;
        let has_timeout = subscriptions.iter().any(|sub| sub.wait_ns != FOREVER);
        subscriptions.iter().any(is_unready).then(|| (pipe.clone(), has_timeout))
    }

    fn parse_subscriptions(&self, view: &MemoryView<'_>, subs: i32, count: i32) -> Result<Vec<Subscription>, Errno> {
        let raw = view.bytes(subs, count * 48)?.chunks_exact(48);
        Ok(raw.map(|raw| self.parse_subscription(raw)).collect())
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
                Ok(Fd::Pipe) if tag == 1 => match self.joined.as_ref().and_then(|(_, pipe)| pipe.available()) {
                    Some(available) => ready = available.max(1),
                    None => wait_ns = FOREVER,
                },
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

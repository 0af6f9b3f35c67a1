//! The two sides of an interaction: guests on one thread, each of which reads what the other writes.
//!
//! A side runs until it waits for input or ends, and then the other one does. The program begins. So it depends on what the two write and read
//! alone which of them runs when, and that is the same each time, the fuel at which a side is stopped included. A side is stopped, where it waits,
//! when the other one fails, or waits for it: its call is dropped, and later its instance.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use veriplay_core::InteractionEnd;

use crate::call::HostFault;
use crate::host_trap::HostTrap;
use crate::wasi::pipe::Pipe;

/// How a guest can end.
pub(crate) trait SideEnd {
    /// Whether it has returned, or left with status 0.
    fn is_well(&self) -> bool;
}

pub(crate) struct Side<'a, E> {
    turn: Pin<Box<dyn Future<Output = Result<E, HostFault>> + 'a>>,
    input: Pipe,
    output: Pipe,
    /// How it has ended, if it has.
    pub(crate) ended: Option<E>,
}

impl<'a, E: SideEnd> Side<'a, E> {
    /// A side that runs by `turn`, and reads and writes these pipes.
    pub(crate) fn new(turn: impl Future<Output = Result<E, HostFault>> + 'a, input: Pipe, output: Pipe) -> Self {
        Self { turn: Box::pin(turn), input, output, ended: None }
    }

    /// Runs it until it waits or ends. Returns whether it has failed.
    fn run_on(&mut self) -> Result<bool, HostFault> {
        if self.ended.is_some() {
            return Ok(false);
        }
        let Poll::Ready(ended) = self.turn.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
            return Ok(false);
        };
        let ended = self.ended.insert(ended?);
        self.output.close();
        Ok(!ended.is_well())
    }

    fn waits(&self) -> bool {
        self.ended.is_none() && self.input.is_awaited()
    }
}

/// Runs both sides until they have ended, or one of them fails, or each waits for the other.
pub(crate) fn run_in_turns<E: SideEnd>(
    program: &mut Side<'_, E>,
    interactor: &mut Side<'_, E>,
) -> Result<InteractionEnd, HostFault> {
    loop {
        if program.run_on()? {
            return Ok(InteractionEnd::ProgramFailed);
        }
        if interactor.run_on()? {
            return Ok(InteractionEnd::InteractorFailed);
        }
        if program.ended.is_some() && interactor.ended.is_some() {
            return Ok(InteractionEnd::Completed);
        }
        if program.waits() && interactor.waits() {
            return Ok(InteractionEnd::Deadlock);
        }
    }
}

/// How a side ends that is stopped where the two part so.
pub(crate) const fn stopped_by(end: InteractionEnd) -> HostTrap {
    HostTrap::Interaction(match end {
        InteractionEnd::Deadlock => "it waits for the other side to write, which waits for it",
        _ => "the other side failed",
    })
}

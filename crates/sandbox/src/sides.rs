//! The two sides of an interaction: guests on one thread, each of which reads what the other writes. A side is a module of its own or an instance
//! of an image ([`SideGuest`]), and the two may be of different kinds.
//!
//! A side runs until it waits for input or ends, and then the other one does. The program begins. So it depends on what the two write and read
//! alone which of them runs when, and that is the same each time, the fuel at which a side is stopped included. A side is stopped, where it waits,
//! when the other one fails, or waits for it: its call is dropped, and later its instance.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use veriplay_core::{Exit, GuestError, Interaction, InteractionEnd, Outcome};

use crate::call::{HostFault, exit_of_trap};
use crate::host_trap::HostTrap;
use crate::wasi::pipe::Pipe;

/// How a side of an interaction ended.
pub(crate) struct SideEnd {
    pub(crate) exit: Exit,
    pub(crate) error: Option<GuestError>,
    /// The status by which it ended its process, where it did.
    pub(crate) exit_code: Option<i32>,
}

impl SideEnd {
    pub(crate) const RETURNED: Self = Self { exit: Exit::Returned, error: None, exit_code: None };

    /// Whether it has returned, or left with status 0.
    fn is_well(&self) -> bool {
        self.exit == Exit::Returned || (self.exit == Exit::Trapped && self.exit_code == Some(0))
    }

    /// That of a side that is stopped where the two part so.
    fn stopped(end: InteractionEnd) -> Self {
        let (exit, error) = exit_of_trap(&HostTrap::Interaction(match end {
            InteractionEnd::Deadlock => "it waits for the other side to write, which waits for it",
            _ => "the other side failed",
        }));
        Self { exit, error, exit_code: None }
    }
}

/// A side that runs until it waits or ends.
pub(crate) type Playing<'a> = Pin<Box<dyn Future<Output = Result<SideEnd, HostFault>> + 'a>>;

/// A guest that can be a side, of any kind.
pub(crate) trait SideGuest {
    /// Makes it ready to run. Returns how it ended, if it did.
    fn load(&mut self) -> Result<Option<SideEnd>, HostFault>;

    /// Starts it, once it is loaded, to read and write these pipes. Where that is dropped before its end, only an outcome may be asked of it.
    fn play(&mut self, input: Pipe, output: Pipe) -> Playing<'_>;

    /// Takes its outcome. One that was stopped may not have been started.
    fn take_outcome(&mut self, ended: SideEnd) -> Result<Outcome, HostFault>;
}

/// Runs a job's program and its interactor, and returns the outcome of both.
pub(crate) fn run_interaction(
    program: &mut dyn SideGuest,
    interactor: &mut dyn SideGuest,
) -> Result<Outcome, HostFault> {
    let (end, [ended, other_ended]) = match [program.load()?, interactor.load()?] {
        [None, None] => talk(program, interactor)?,
        [Some(failed), _] => (InteractionEnd::ProgramFailed, [Some(failed), None]),
        [None, failed] => (InteractionEnd::InteractorFailed, [None, failed]),
    };
    let outcome = program.take_outcome(ended.unwrap_or_else(|| SideEnd::stopped(end)))?;
    let interactor = interactor.take_outcome(other_ended.unwrap_or_else(|| SideEnd::stopped(end)))?;
    Ok(Outcome { interaction: Some(Box::new(Interaction { end, interactor })), ..outcome })
}

/// The outcome of a job whose program, or its interactor, has failed so before it ran. The other one was not run.
pub(crate) fn part(end: InteractionEnd, failed: Outcome) -> Outcome {
    let SideEnd { exit, error, .. } = SideEnd::stopped(end);
    let stopped = Outcome { error, ..Outcome::new(exit) };
    let (outcome, interactor) = match end {
        InteractionEnd::InteractorFailed => (stopped, failed),
        _ => (failed, stopped),
    };
    Outcome { interaction: Some(Box::new(Interaction { end, interactor })), ..outcome }
}

/// Runs both sides. Returns how they parted, and how each of them ended, unless it was stopped.
fn talk(
    program: &mut dyn SideGuest,
    interactor: &mut dyn SideGuest,
) -> Result<(InteractionEnd, [Option<SideEnd>; 2]), HostFault> {
    let (input, output) = (Pipe::default(), Pipe::default());
    let mut program = Side::new(program.play(input.clone(), output.clone()), input.clone(), output.clone());
    let mut interactor = Side::new(interactor.play(output.clone(), input.clone()), output, input);
    let end = run_in_turns(&mut program, &mut interactor)?;
    Ok((end, [program.ended, interactor.ended]))
}

struct Side<'a> {
    playing: Playing<'a>,
    input: Pipe,
    output: Pipe,
    /// How it has ended, if it has.
    ended: Option<SideEnd>,
}

impl<'a> Side<'a> {
    fn new(playing: Playing<'a>, input: Pipe, output: Pipe) -> Self {
        Self { playing, input, output, ended: None }
    }

    /// Runs it until it waits or ends. Returns whether it has failed.
    fn run_on(&mut self) -> Result<bool, HostFault> {
        if self.ended.is_some() {
            return Ok(false);
        }
        let Poll::Ready(ended) = self.playing.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
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
fn run_in_turns(program: &mut Side<'_>, interactor: &mut Side<'_>) -> Result<InteractionEnd, HostFault> {
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

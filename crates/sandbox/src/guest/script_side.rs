//! A script in an instance of an image as a side of an interaction, see [`crate::sides`].

use std::borrow::BorrowMut;

use veriplay_core::{Exit, Job, Outcome};

use super::{GuestInstance, TurnEnd, at_stdout_cap};
use crate::call::HostFault;
use crate::kept_states::{KeptStates, StateKey};
use crate::request;
use crate::sides::{Playing, SideEnd, SideGuest};
use crate::wasi::pipe::Pipe;

/// The script of `job`, in an instance in the image's state, which it owns or which is reset behind it.
pub(crate) struct ScriptSide<'a, G> {
    guest: G,
    job: &'a Job,
    states: &'a KeptStates,
}

impl<'a, G: BorrowMut<GuestInstance>> ScriptSide<'a, G> {
    pub(crate) const fn new(guest: G, job: &'a Job, states: &'a KeptStates) -> Self {
        Self { guest, job, states }
    }
}

impl<G: BorrowMut<GuestInstance>> SideGuest for ScriptSide<'_, G> {
    fn load(&mut self) -> Result<Option<SideEnd>, HostFault> {
        let (job, states) = (self.job, self.states);
        let guest: &mut GuestInstance = self.guest.borrow_mut();
        let program = request::encode_program(&job.program, &job.entry, guest.image.kind);
        let compiled = StateKey::IMAGE.behind_program(&program);
        guest.set_fuel(job.limits.fuel)?;
        let is_compiled = guest.enter(compiled, &job.limits, states)?;
        guest.prepare_job(job, &job.files, job.seed, at_stdout_cap(job))?;
        let ended = if is_compiled { None } else { guest.compile(compiled, job, program, states)? };
        Ok(ended.map(SideEnd::from))
    }

    fn play(&mut self, input: Pipe, output: Pipe) -> Playing<'_> {
        let job = self.job;
        let guest: &mut GuestInstance = self.guest.borrow_mut();
        guest.set_request(job, request::encode_request(job, guest.image.kind), 0);
        guest.store.data_mut().wasi.join(input, output);
        Box::pin(async move {
            let (ended, cost) = guest.turn(&job.limits).await?;
            guest.spent.running += cost;
            Ok::<_, HostFault>(SideEnd::from(ended))
        })
    }

    fn take_outcome(&mut self, ended: SideEnd) -> Result<Outcome, HostFault> {
        let job = self.job;
        let guest: &mut GuestInstance = self.guest.borrow_mut();
        // One that was stopped is in the middle of its call.
        guest.store.data_mut().grew |= ended.exit == Exit::Trapped;
        let fetched = guest.store.data().wasi.fetch_files(job);
        let SideEnd { exit, error, exit_code } = ended;
        let outcome = guest.take_outcome(&job.limits, TurnEnd { exit, error, exit_code, calls: Vec::new() })?;
        Ok(fetched.add_to(outcome))
    }
}

impl From<TurnEnd> for SideEnd {
    fn from(turn: TurnEnd) -> Self {
        let TurnEnd { exit, error, exit_code, .. } = turn;
        Self { exit, error, exit_code }
    }
}

//! Runs a job's program and its interactor, in two instances of the image, as [`crate::sides`] says.

use veriplay_core::{Exit, Interaction, InteractionEnd, Interactor, Job, Outcome};

use super::{GuestInstance, TurnEnd, at_stdout_cap};
use crate::call::HostFault;
use crate::kept_states::{KeptStates, StateKey};
use crate::request;
use crate::sides::{Side, SideEnd, run_in_turns, stopped_by};
use crate::wasi::pipe::Pipe;

impl GuestInstance {
    /// Runs `job` in this instance, and its interactor in `other`. Both are in the image's state.
    pub(super) fn run_interaction(
        &mut self,
        job: &Job,
        interactor: &Interactor,
        mut other: GuestInstance,
        states: &KeptStates,
    ) -> Result<(Outcome, Option<GuestInstance>), HostFault> {
        let of_other = interactor.as_job(job);
        let ended = [self.load_script(job, states)?, other.load_script(&of_other, states)?];
        let (end, [program, interactor]) = match ended {
            [None, None] => self.talk(job, &mut other, &of_other)?,
            [Some(program), _] => (InteractionEnd::ProgramFailed, [Some(program), None]),
            [None, interactor] => (InteractionEnd::InteractorFailed, [None, interactor]),
        };
        let fetched = self.store.data().wasi.fetch_files(job);
        let outcome = self.take_side(job, program, end)?;
        let interactor = other.take_side(&of_other, interactor, end)?;
        let interaction = Some(Box::new(Interaction { end, interactor }));
        Ok((Outcome { interaction, ..fetched.add_to(outcome) }, Some(other)))
    }

    /// Compiles a script, which is then ready to run. Returns how that ended, if it did.
    fn load_script(&mut self, job: &Job, states: &KeptStates) -> Result<Option<TurnEnd>, HostFault> {
        let program = request::encode_program(&job.program, &job.entry, self.image.kind);
        let compiled = StateKey::IMAGE.behind_program(&program);
        self.set_fuel(job.limits.fuel)?;
        let is_compiled = self.enter(compiled, &job.limits, states)?;
        self.prepare_job(job, &job.files, job.seed, at_stdout_cap(job))?;
        if is_compiled { Ok(None) } else { self.compile(compiled, job, program, states) }
    }

    /// Runs both scripts. Returns how they parted, and how each of them ended, unless it was stopped.
    fn talk(
        &mut self,
        job: &Job,
        other: &mut GuestInstance,
        of_other: &Job,
    ) -> Result<(InteractionEnd, [Option<TurnEnd>; 2]), HostFault> {
        let (input, output) = (Pipe::default(), Pipe::default());
        let mut program = self.start_side(job, input.clone(), output.clone());
        let mut interactor = other.start_side(of_other, output, input);
        let end = run_in_turns(&mut program, &mut interactor)?;
        let ended = [program.ended.take(), interactor.ended.take()];
        Ok((end, ended))
    }

    fn start_side<'a>(&'a mut self, job: &'a Job, input: Pipe, output: Pipe) -> Side<'a, TurnEnd> {
        self.set_request(job, request::encode_request(job, self.image.kind), 0);
        self.store.data_mut().wasi.join(input.clone(), output.clone());
        let turn = async move {
            let (ended, cost) = self.turn(&job.limits).await?;
            self.spent.running += cost;
            Ok::<_, HostFault>(ended)
        };
        Side::new(turn, input, output)
    }

    /// Takes the outcome of one side, which was stopped if it has not ended.
    fn take_side(&mut self, job: &Job, ended: Option<TurnEnd>, end: InteractionEnd) -> Result<Outcome, HostFault> {
        let ended = ended.unwrap_or_else(|| {
            self.store.data_mut().grew = true;
            TurnEnd::from_trap(&stopped_by(end))
        });
        self.take_outcome(&job.limits, ended)
    }
}

impl SideEnd for TurnEnd {
    fn is_well(&self) -> bool {
        self.exit == Exit::Returned || (self.exit == Exit::Trapped && self.exit_code == Some(0))
    }
}

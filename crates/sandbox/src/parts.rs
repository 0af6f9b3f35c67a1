//! Runs jobs that are made of modules of their own and of images: a module alone, or a program and its interactor of any two kinds.

use std::sync::Arc;

use veriplay_core::{CancellationToken, GuestError, Job, Outcome};

use crate::call::HostFault;
use crate::guest::{GuestInstance, ScriptSide};
use crate::image::Image;
use crate::kept_states::KeptStates;
use crate::program::{ModuleSide, Program, not_compiled};
use crate::sides::{SideGuest, run_interaction};

/// What a job's program is run from, or its interactor.
pub(crate) enum JobPart {
    /// A module that was compiled, or why it cannot be.
    Module(Arc<Result<Program, GuestError>>),
    /// The image of a script, which runs in a new instance.
    Image(Arc<Image>),
}

impl JobPart {
    fn side<'a>(
        &'a self,
        job: &'a Job,
        states: &'a KeptStates,
        cancellation: &'a CancellationToken,
    ) -> Result<Box<dyn SideGuest + 'a>, HostFault> {
        let side: Box<dyn SideGuest + 'a> = match self {
            Self::Module(compiled) => Box::new(ModuleSide::new(compiled, job, cancellation)),
            Self::Image(image) => {
                let mut guest = GuestInstance::new(image)?;
                guest.set_cancellation(cancellation.clone());
                Box::new(ScriptSide::new(guest, job, states))
            }
        };
        Ok(side)
    }
}

/// Runs a job of these parts: that of its program, and that of its interactor if it has one.
pub(crate) fn run_parts(parts: &[JobPart], job: &Job, cancellation: &CancellationToken) -> Result<Outcome, HostFault> {
    match (parts, &job.interactor) {
        ([JobPart::Module(compiled)], None) => match &**compiled {
            Ok(program) => program.run(job, cancellation),
            Err(error) => Ok(not_compiled(error)),
        },
        ([program, other], Some(interactor)) => {
            let (of_other, states, other_states) =
                (interactor.as_job(job), KeptStates::default(), KeptStates::default());
            let mut program = program.side(job, &states, cancellation)?;
            let mut other = other.side(&of_other, &other_states, cancellation)?;
            run_interaction(&mut *program, &mut *other)
        }
        _ => Err("the parts are others than the job has".to_owned()),
    }
}

//! The executor: the sandbox on the images that a game needs. It runs repeated jobs once, and counts all.

use std::iter;
use std::sync::atomic::{AtomicU64, Ordering};

use veriplay_console::exit::{ExitCode, Failure, bad_value};
use veriplay_console::isolation::Isolation;
use veriplay_console::programs::{ProgramImage, ProgramSandbox};
use veriplay_console::progress::{self, Progress};
use veriplay_core::{Execute, ExecuteError, Job, Language, Outcome};
use veriplay_sandbox::{ImageError, ImageSpec, OutcomeCache, Sandbox, SandboxOptions};
use veriplay_verifier::languages::{is_python, language_in_image};

use crate::judged_images::{JudgedImage, JudgedImages};
use crate::programs::ProgramRunner;

/// Outcomes that are cached: about as many as a quickstart repeats, some tens of megabytes.
const REMEMBERED: usize = 1 << 16;

/// Runs jobs in the images it was opened with.
pub struct GameExecutor {
    cache: OutcomeCache<ProgramSandbox>,
    jobs: AtomicU64,
    images: JudgedImages,
    game_image: String,
}

impl GameExecutor {
    /// Loads the game's image and another, building them first where they are missing.
    pub fn open(game_image: &str, other: Option<&str>, workers: Isolation) -> Result<Self, Failure> {
        let names = iter::once(game_image).chain(other.filter(|other| *other != game_image));
        let names = names.inspect(|name| progress::say(format!("opening the image `{name}`")));
        let names: Vec<String> = names.map(str::to_owned).collect();
        let opened = ProgramImage::open_all(&names)?;
        let images = names.into_iter().zip(&opened).map(|(name, image)| {
            let (digest, manifest) = (image.digest().clone(), image.manifest().map(str::to_owned));
            (name, JudgedImage { digest, manifest })
        });
        let images = images.collect();
        let sandbox = ProgramSandbox::open(opened, SandboxOptions::fastest(), workers)?;
        Ok(Self::with_sandbox(game_image, images, sandbox))
    }

    /// Refuses the value of configuration key `key` where it names no image of Python.
    pub fn check_image(key: &str, name: &str) -> Result<(), Failure> {
        let error = match ImageSpec::find(name) {
            Ok(spec) if spec.is_python() => return Ok(()),
            Ok(_) => {
                return Err(bad_value(
                    key,
                    &name,
                    "an image of Python: the programs of this game are in no other language",
                ));
            }
            Err(error) => error,
        };
        let failure = match &error {
            ImageError::UnknownName { known, .. } => bad_value(key, &name, &format!("one of {}", known.join(", "))),
            error => Failure::message(ExitCode::Input, format!("configuration key `{key}` is `{name}`: {error}")),
        };
        Err(failure.maybe_hint(error.hint()))
    }

    /// Refuses the value of configuration key `key` where programs of the game's language do not run in an image of this name.
    pub fn check_language(key: &str, name: &str, language: &dyn Language) -> Result<(), Failure> {
        let names = language.names();
        if language_in_image(name).names() != names {
            let want = format!("an image of `{}`, or set `game.language` to that of the image", names[0]);
            return Err(bad_value(key, &name, &want));
        }
        if is_python(language) { Self::check_image(key, name) } else { Ok(()) }
    }

    /// Over sandboxes on images of different names, of which one is the game's.
    pub fn over(game_image: &str, sandboxes: Vec<Sandbox>) -> Self {
        let images = sandboxes.iter().map(Sandbox::image);
        let images = images.map(|image| {
            let (digest, manifest) = (image.digest().clone(), image.cached_manifest().map(str::to_owned));
            (image.name().to_owned(), JudgedImage { digest, manifest })
        });
        let images = images.collect();
        Self::with_sandbox(game_image, images, sandboxes.into())
    }

    fn with_sandbox(game_image: &str, images: JudgedImages, sandbox: ProgramSandbox) -> Self {
        Self {
            images,
            cache: OutcomeCache::new(sandbox, REMEMBERED),
            jobs: AtomicU64::new(0),
            game_image: game_image.to_owned(),
        }
    }

    /// Runs programs in the game's image.
    pub fn runner(&self) -> ProgramRunner<'_> {
        ProgramRunner { image: &self.game_image, execute: self }
    }

    /// The images that its guests start from.
    pub const fn images(&self) -> &JudgedImages {
        &self.images
    }

    /// Jobs so far, those answered from the cache included.
    pub fn jobs(&self) -> u64 {
        self.jobs.load(Ordering::Relaxed)
    }
}

impl Execute for GameExecutor {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        self.cache.execute(job)
    }
}

/// The same executor, whose jobs are counted on a bar for as long as the bar has no length: while nobody knows how many there will be.
pub struct CountedJobs<'a> {
    /// The executor that runs the jobs.
    pub execute: &'a dyn Execute,
    /// The bar that shows how many have begun.
    pub bar: &'a Progress,
}

impl Execute for CountedJobs<'_> {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        if self.bar.length().is_none() {
            self.bar.inc(1);
        }
        self.execute.execute(job)
    }
}

//! A target that is an image of Docker, or of a program with its command line: each program runs in a container of its own.
//!
//! The file is mounted, the network is none, memory and processor time are limited; options before the image's name add to that. A container
//! whose client was stopped goes on, so one that was not waited for to its end is killed by its name.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::leftovers::Container;
use veriplay_corpus::probes::judge::{ExternalExit, ExternalRun};

use super::bait::VARIABLE;
use super::command::{run_command, write_program};
use super::target::{MEMORY_MIB, ProbeRequest, Target, failed};

/// The program, found on `PATH`.
const PROGRAM: &str = "docker";
/// Where the program's file is in the container.
const FILE: &str = "/probe.py";

/// An image, and options for `docker run`.
pub(crate) struct DockerTarget {
    options: Vec<String>,
    image: String,
    secret: String,
    containers: AtomicU64,
}

impl DockerTarget {
    /// Finds the image, and pulls one that is not there.
    pub(crate) fn new(text: &str, secret: String) -> Result<Self, Failure> {
        let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let image = words.pop().filter(|image| !image.starts_with('-')).ok_or_else(|| {
            Failure::message(ExitCode::Input, format!("--target `docker:{text}` does not end with an image")).hint(
                "write for example `docker:python:3.12-slim`, or `docker:--read-only --cap-drop ALL python:3.12-slim`",
            )
        })?;
        let target = Self { options: words, image, secret, containers: AtomicU64::new(0) };
        target.find_image()?;
        Ok(target)
    }

    fn find_image(&self) -> Result<(), Failure> {
        let said = |arguments: [&str; 2]| {
            let output = Command::new(PROGRAM).args(arguments).arg(&self.image).stdin(Stdio::null()).output();
            output.with_context(|| format!("`{PROGRAM}` cannot be run")).or_fail(ExitCode::Input)
        };
        if said(["image", "inspect"])?.status.success() {
            return Ok(());
        }
        let pulled = said(["pull", "--quiet"])?;
        if pulled.status.success() {
            return Ok(());
        }
        let why = String::from_utf8_lossy(&pulled.stderr).trim().to_owned();
        Err(Failure::message(ExitCode::Input, format!("`{PROGRAM} pull {}` failed: {why}", self.image))
            .hint("start Docker, or build the image; nothing was attacked"))
    }

    /// `docker run` for a program's file, in a container of this name.
    fn arguments(&self, name: &str, file: &Path, seconds: u64) -> Vec<String> {
        let mut arguments: Vec<String> =
            ["run", "--rm", "--interactive", "--network", "none"].map(str::to_owned).into();
        arguments.extend(["--name".to_owned(), name.to_owned()]);
        arguments.extend([format!("--memory={MEMORY_MIB}m"), format!("--memory-swap={MEMORY_MIB}m")]);
        arguments.push(format!("--ulimit=cpu={seconds}"));
        arguments.push(format!("--mount=type=bind,source={},target={FILE},readonly", file.display()));
        arguments.extend(self.options.iter().cloned());
        arguments.extend([self.image.clone(), "python3".to_owned(), FILE.to_owned()]);
        arguments
    }

    fn try_run(&self, request: &ProbeRequest<'_>) -> std::io::Result<ExternalRun> {
        let (folder, file) = write_program(request)?;
        let number = self.containers.fetch_add(1, Ordering::Relaxed);
        let name = format!("veriplay-probe-{}-{number}", std::process::id());
        let mut command = Command::new(PROGRAM);
        command.args(self.arguments(&name, &file, request.seconds)).current_dir(folder).env(VARIABLE, &self.secret);
        let container = Container::announce(PROGRAM, &name)?;
        let run = run_command(&mut command, request);
        if matches!(&run, Ok(ExternalRun { ended: ExternalExit::Exited(_), .. })) {
            container.has_ended();
        }
        run
    }
}

impl Target for DockerTarget {
    fn run(&self, request: &ProbeRequest<'_>) -> ExternalRun {
        self.try_run(request).unwrap_or_else(|error| failed(format!("`{PROGRAM} run` cannot be run: {error}")))
    }
}

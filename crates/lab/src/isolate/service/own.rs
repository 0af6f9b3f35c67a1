//! A `veriplay serve` of the suite's own, as a process like any other: on a free port of this machine, with two tokens, a secret in its
//! environment, and time limits that a probe can wait for.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::leftovers::{ProcessGroup, TemporaryFolder};

use super::client::marker;
use crate::isolate::bait::VARIABLE;

/// The seconds in which a head, and a body, must arrive. A known program must be answered within those of a body, on a busy machine too.
pub(super) const HEAD_SECONDS: u64 = 2;
pub(super) const BODY_SECONDS: u64 = 6;
/// How long it may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(1);

/// The process. It is stopped on drop.
pub(super) struct OwnService {
    process: ProcessGroup,
    folder: TemporaryFolder,
    pub(super) address: String,
    pub(super) tokens: Vec<String>,
    secret: String,
}

impl OwnService {
    pub(super) fn start() -> Result<Self, Failure> {
        let folder = TemporaryFolder::new("veriplay-service-");
        let folder = folder.context("cannot make a temporary directory").or_fail(ExitCode::Host)?;
        let tokens = vec![marker("token-of-one"), marker("token-of-another")];
        let (token_file, log) = (folder.path().join("tokens"), folder.path().join("log"));
        std::fs::write(&token_file, tokens.join("\n")).context("cannot write a file").or_fail(ExitCode::Host)?;
        let log = File::create(&log).context("cannot write a file").or_fail(ExitCode::Host)?;
        let secret = marker("secret");
        let program = std::env::current_exe().context("this program has no path").or_fail(ExitCode::Host)?;
        let mut command = Command::new(program);
        command.args(["serve", "--addr", "127.0.0.1:0", "--token-file"]).arg(&token_file);
        command.arg("--cache").arg(folder.path().join("cache"));
        command.args(["--head-seconds", &HEAD_SECONDS.to_string(), "--body-seconds", &BODY_SECONDS.to_string()]);
        command.env(VARIABLE, &secret).env("VERIPLAY_LOG", "info");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let process = ProcessGroup::start(&mut command);
        let process = process.context("`veriplay serve` cannot be started").or_fail(ExitCode::Host)?;
        let mut own = Self { process, folder, address: String::new(), tokens, secret };
        own.address = own.read_address()?;
        Ok(own)
    }

    fn read_address(&mut self) -> Result<String, Failure> {
        let stdout = self.process.child.stdout.take().context("no output").or_fail(ExitCode::Bug)?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).context("no first line").or_fail(ExitCode::Host)?;
        let address = line.trim().to_owned();
        if address.is_empty() {
            let log = std::fs::read_to_string(self.log()).unwrap_or_default();
            return Err(Failure::message(ExitCode::Host, format!("`veriplay serve` did not start: {}", log.trim())));
        }
        Ok(address)
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    pub(super) fn secrets(&self) -> Vec<String> {
        let mut secrets = vec![self.secret.clone(), self.folder.path().display().to_string()];
        secrets.extend(self.tokens.iter().cloned());
        let paths =
            [std::env::current_exe().ok(), std::env::current_dir().ok(), std::env::var_os("HOME").map(Into::into)];
        secrets.extend(paths.into_iter().flatten().map(|path| path.display().to_string()));
        secrets.extend(std::fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()));
        // `/`, and names that a machine shares with what answers speak of, stand in many texts.
        secrets.retain(|secret| secret.len() >= 5 && !"localhost veriplay python service".contains(secret.as_str()));
        secrets
    }
}

impl Drop for OwnService {
    fn drop(&mut self) {
        // The requests of a probe that a signal stopped are not waited for.
        self.process.terminate(GRACE);
    }
}

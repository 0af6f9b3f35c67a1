//! The machine that the numbers were measured on, and its interpreters.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use veriplay_console::processors::processors;

/// The machine that the numbers were measured on.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// Processors this process may use.
    cpus: usize,
    model: Option<String>,
    kernel: Option<String>,
    /// Runnable processes, averaged over the minute before: an idle machine is near 0.
    load_1m: Option<f64>,
    /// Version of the native interpreter; `null` where there is none.
    python: Option<String>,
    veriplay: &'static str,
    /// `release`, or `dev`, which is slower.
    build: &'static str,
    /// The image that the guests ran in.
    image: Option<String>,
}

impl Machine {
    /// This machine, with the interpreter that baselines run in.
    pub fn of(python: Option<&Python>) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let model = read("/proc/cpuinfo").and_then(|text| field(&text, "model name"));
        let load = read("/proc/loadavg").and_then(|text| text.split_whitespace().next()?.parse().ok());
        Self {
            cpus: processors(),
            model,
            kernel: read("/proc/sys/kernel/osrelease").map(|text| text.trim().to_owned()),
            load_1m: load,
            python: python.map(|python| python.version.clone()),
            veriplay: env!("CARGO_PKG_VERSION"),
            build: if cfg!(debug_assertions) { "dev" } else { "release" },
            image: None,
        }
    }

    /// The same with the image that the guests run in.
    pub fn with_image(self, image: &str) -> Self {
        Self { image: Some(image.to_owned()), ..self }
    }

    /// Runnable processes before the measurement, and the processors for them.
    pub const fn load(&self) -> (Option<f64>, usize) {
        (self.load_1m, self.cpus)
    }

    /// In one line.
    pub fn text(&self) -> String {
        let or_unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
        let image = self.image.as_ref().map_or_else(String::new, |image| format!(", image {image}"));
        format!(
            "{} × {}, Linux {}, load {}, Python {}, veriplay {} ({} build){image}",
            self.cpus,
            or_unknown(&self.model),
            or_unknown(&self.kernel),
            self.load_1m.map_or_else(|| "unknown".to_owned(), |load| load.to_string()),
            self.python.as_deref().unwrap_or("absent"),
            self.veriplay,
            self.build,
        )
    }
}

fn field(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// A native interpreter.
#[derive(Debug, Clone)]
pub struct Python {
    executable: PathBuf,
    version: String,
}

impl Python {
    /// Runs it in a clean environment.
    pub fn command(&self) -> Command {
        clean(&self.executable)
    }
}

/// The interpreter behind `python3` on the `PATH`. That file may be a script which starts the interpreter, so the interpreter itself reports its
/// path.
pub fn find_python() -> Result<Python, String> {
    let program = "import sys; print(sys.executable); print(sys.version.split()[0])";
    let output = clean(Path::new("python3")).args(["-I", "-S", "-c", program]).output();
    let output = output.map_err(|error| format!("`python3` is not on the PATH: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match text.lines().collect::<Vec<_>>().as_slice() {
        // CPython finds itself by the PATH.
        ["", _] => Err("`python3` does not know where it is: is PATH set?".to_owned()),
        [executable, version] => Ok(Python { executable: PathBuf::from(executable), version: (*version).to_owned() }),
        _ => Err(format!("`python3` on the PATH does not run: {}", output.status)),
    }
}

/// A command with a minimal environment: without this process's own variables and Python's settings.
pub(crate) fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    let kept = ["PATH", "HOME", "LD_LIBRARY_PATH", "XDG_CACHE_HOME", "PYENV_VERSION", "PYENV_ROOT"];
    command.envs(kept.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command
}

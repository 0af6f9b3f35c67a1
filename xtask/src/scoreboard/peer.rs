//! The definition of a peer: a folder of `benches/scoreboard/peers` with `peer.toml` and `setup.sh`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use serde::Deserialize;

use super::Setting;
use super::target::{Target, TargetKind, fill, fill_all};

/// The memory that `veriplay isolate` allows a target.
const ISOLATE_MEMORY_BYTES: u64 = 256 << 20;

/// The folder of the peers, from the root.
pub const FOLDER: &str = "benches/scoreboard/peers";

/// `peer.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// What the table calls it.
    pub title: String,
    /// Its place in the table.
    pub order: u32,
    /// How it was configured, and by whose advice.
    pub configured: String,
    /// Classes of probes that its documentation says it contains.
    pub claims: Vec<String>,
    /// What its documentation says it limits: `fuel`, `cpu`, `memory`.
    pub meters: Vec<String>,
    /// Whether its documentation says that each program starts from a fresh state.
    pub fresh_state: bool,
    /// Prints its version.
    pub version: Vec<String>,
    /// Runs one program. Exactly one of this and `service` is there.
    pub command: Option<Vec<String>>,
    /// Starts a service that speaks SandboxFusion's protocol.
    pub service: Option<Vec<String>>,
    /// Runs an isolation suite of its own, and prints its counts as `veriplay isolate --json` does.
    pub own_suite: Option<Vec<String>>,
    /// The most programs that the caller of a command runs at once, where more would not fit into the memory.
    pub most_at_once: Option<usize>,
}

/// A peer whose set-up has been run.
pub struct Peer {
    /// The name of its folder.
    pub name: String,
    /// Its definition.
    pub definition: Definition,
    definition_folder: PathBuf,
    installed: PathBuf,
}

/// The definitions of all peers, in the table's order.
///
/// # Errors
/// When one cannot be read, or contradicts itself.
pub fn read_all(root: &Path) -> anyhow::Result<Vec<(String, Definition)>> {
    let folder = root.join(FOLDER);
    let mut all = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot list `{}`", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path.join("peer.toml"));
        let text = text.with_context(|| format!("cannot read `{FOLDER}/{name}/peer.toml`"))?;
        let definition = Definition::parse(&text).with_context(|| format!("in `{FOLDER}/{name}/peer.toml`"))?;
        ensure!(path.join("setup.sh").is_file(), "`{FOLDER}/{name}` has no setup.sh");
        all.push((name, definition));
    }
    all.sort_by_key(|(_, definition)| definition.order);
    Ok(all)
}

impl Definition {
    /// Reads the text of `peer.toml`.
    ///
    /// # Errors
    /// When a key is unknown or missing, or what it says cannot be run.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let definition: Self = toml::from_str(text)?;
        let ways = usize::from(definition.command.is_some()) + usize::from(definition.service.is_some());
        ensure!(ways == 1, "it must have either `command` or `service`");
        if let Some(command) = &definition.command {
            ensure!(command.iter().any(|word| word.contains("{file}")), "`command` has no `{{file}}` for the program");
        }
        if let Some(service) = &definition.service {
            ensure!(service.iter().any(|word| word.contains("{port}")), "`service` has no `{{port}}` to listen on");
        }
        let meters = ["fuel", "cpu", "memory"];
        if let Some(unknown) = definition.meters.iter().find(|meter| !meters.contains(&meter.as_str())) {
            anyhow::bail!("`meters` names `{unknown}`: it may name `{}`", meters.join("`, `"));
        }
        Ok(definition)
    }

    /// The command that runs a program, or starts the service, with its placeholders.
    #[must_use]
    pub fn command_line(&self) -> String {
        let words = self.command.as_ref().or(self.service.as_ref()).map(Vec::as_slice).unwrap_or_default();
        words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
    }
}

impl Peer {
    /// Runs the set-up of a peer, if it has not been run, and says how many seconds it took when it was run.
    ///
    /// # Errors
    /// When the set-up fails: the reason why this machine cannot have the peer.
    pub fn install(name: &str, definition: &Definition, setting: &Setting) -> anyhow::Result<(Self, f64)> {
        let installed = setting.out.join("installed").join(name);
        let definition_folder = setting.root.join(FOLDER).join(name);
        let peer = Self { name: name.to_owned(), definition: definition.clone(), definition_folder, installed };
        let mark = peer.installed.with_extension("seconds");
        if let Some(seconds) = fs::read_to_string(&mark).ok().and_then(|text| text.trim().parse().ok()) {
            return Ok((peer, seconds));
        }
        let _ = fs::remove_dir_all(&peer.installed);
        fs::create_dir_all(&peer.installed).with_context(|| format!("cannot make `{}`", peer.installed.display()))?;
        let started = Instant::now();
        peer.run_setup(setting)?;
        let seconds = started.elapsed().as_secs_f64();
        fs::write(&mark, format!("{seconds:.2}\n")).with_context(|| format!("cannot write `{}`", mark.display()))?;
        Ok((peer, seconds))
    }

    fn run_setup(&self, setting: &Setting) -> anyhow::Result<()> {
        let mut setup = Command::new("bash");
        setup.arg("-eu").arg(self.definition_folder.join("setup.sh")).current_dir(&self.installed);
        setup.env("HERE", &self.definition_folder).env("VERIPLAY", &setting.veriplay).env("PYTHON", &setting.python);
        setup.env("PIP", "python3 -m pip").env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        if let Some(sources) = &setting.sources {
            setup.env("SOURCES", sources);
        }
        let output = setup.output().context("cannot start bash")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
        ensure!(output.status.success(), "its set-up failed: {last}");
        Ok(())
    }

    /// The words that stand for the same in every run.
    fn fixed_words(&self, setting: &Setting) -> Vec<(&'static str, String)> {
        vec![
            ("peer", self.installed.display().to_string()),
            ("here", self.definition_folder.display().to_string()),
            ("python", setting.python.display().to_string()),
            ("veriplay", setting.veriplay.display().to_string()),
        ]
    }

    /// The first line that its version command prints.
    ///
    /// # Errors
    /// When that command fails.
    pub fn version(&self, setting: &Setting) -> anyhow::Result<String> {
        let argv = fill_all(&self.definition.version, &self.fixed_words(setting));
        let output = Command::new(&argv[0]).args(&argv[1..]).output();
        let output = output.with_context(|| format!("cannot run `{}`", argv.join(" ")))?;
        let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        ensure!(output.status.success() && !text.is_empty(), "`{}` prints no version", argv.join(" "));
        Ok(text)
    }

    /// Starts it, if it is a service.
    ///
    /// # Errors
    /// When a service does not start, or does not answer.
    pub fn open(&self, setting: &Setting) -> anyhow::Result<Target> {
        let words = self.fixed_words(setting);
        let kind = match (&self.definition.command, &self.definition.service) {
            (Some(command), _) => TargetKind::Command(fill_all(command, &words)),
            (None, service) => TargetKind::Service(fill_all(service.as_deref().unwrap_or_default(), &words)),
        };
        Target::open(kind, &setting.out.join("logs"), &self.name)
    }

    /// The `--target` of `veriplay isolate`.
    #[must_use]
    pub fn isolate_target(&self, target: &Target, setting: &Setting) -> String {
        match (&self.definition.command, target.port()) {
            (_, Some(port)) => format!("sandboxfusion:http://127.0.0.1:{port}"),
            (command, None) => {
                let mut words = self.fixed_words(setting);
                words.push(("memory_bytes", ISOLATE_MEMORY_BYTES.to_string()));
                let argv = command.as_deref().unwrap_or_default();
                let words: Vec<String> = argv.iter().map(|word| quote(&fill(word, &words))).collect();
                format!("cmd:exec {}", words.join(" "))
            }
        }
    }

    /// The command of its own isolation suite.
    #[must_use]
    pub fn own_suite(&self, setting: &Setting) -> Option<Vec<String>> {
        self.definition.own_suite.as_ref().map(|words| fill_all(words, &self.fixed_words(setting)))
    }
}

/// A word for a shell.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:{},+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "title = 't'\norder = 1\nconfigured = 'c'\nclaims = []\nmeters = ['cpu']\nfresh_state = true\nversion = ['v']\n";

    #[test]
    fn a_definition_runs_programs_in_exactly_one_way() {
        let command = format!("{SOUND}command = ['sh', '{{file}}', 'a b']\n");
        assert_eq!(Definition::parse(&command).expect("it is sound").command_line(), "sh {file} 'a b'");
        let both = format!("{command}service = ['x', '{{port}}']\n");
        for (text, why) in [
            (SOUND.to_owned(), "either `command` or `service`"),
            (both, "either `command` or `service`"),
            (format!("{SOUND}command = ['sh']\n"), "no `{file}`"),
            (format!("{SOUND}service = ['sh']\n"), "no `{port}`"),
            (command.replace("cpu", "watts"), "`watts`"),
            (format!("{command}colour = 'red'\n"), "colour"),
        ] {
            let error = Definition::parse(&text).expect_err("it is not sound");
            assert!(format!("{error:#}").contains(why), "{error:#}");
        }
    }

    #[test]
    fn every_peer_of_the_repository_is_sound() {
        let all = read_all(&crate::root()).expect("the peers can be read");
        assert!(all.len() >= 10, "{} peers", all.len());
        assert!(all.iter().any(|(name, _)| name == "python3"));
    }
}

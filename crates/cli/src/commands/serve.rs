//! `veriplay serve`: the verifier as a service, for trainers that live elsewhere.

use std::net::{SocketAddr, ToSocketAddrs};
use std::num::{NonZeroU16, NonZeroU32};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use veriplay_console::exit::{ExitCode, Failure};
use veriplay_console::image::{ImageArguments, find_spec};
use veriplay_console::isolation::Isolation;
use veriplay_console::json_file::read_text;
use veriplay_console::limits::{at_least_one, check_memory, mib_to_bytes, parse_fuel, parse_mib};
use veriplay_console::programs::{ProgramImage, ProgramSandbox};
use veriplay_console::progress;
use veriplay_core::{Language, Limits};
use veriplay_sandbox::{Image, SandboxOptions};
use veriplay_server::{
    Address, FirstSlices, ListenError, MemoryPlan, ServeError, ServedJudge, ServiceSandbox, Settings, Tokens,
    raise_descriptor_limit,
};
use veriplay_verifier::languages::{is_python, languages};

use super::cache_arguments::CacheArguments;
use super::describe_images;

/// Judge attempts over HTTP, for trainers that live elsewhere
///
/// The first line of stdout is the address. See the page "Serving verdicts" of the documentation
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Address and port to listen on; port 0 is any free one, and a name stands for its IPv4 address where it has one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080", value_parser = resolve, conflicts_with = "socket")]
    addr: SocketAddr,
    /// Listen on this Unix socket instead, which only this user may connect to
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Ask every request for one of the bearer tokens in this file, one a line; needed beyond the loopback address
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Attempts judged at once [default: one for each processor, fewer where memory is short]
    #[arg(long, value_name = "N", value_parser = parse_workers)]
    workers: Option<NonZeroU16>,
    #[command(flatten)]
    image: ImageArguments,
    /// Languages beside Python, such as `javascript,cpp`: those that `/run_code` and `/submit` take, and that checkers and interactors may be in
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = parse_language)]
    languages: Vec<&'static dyn Language>,
    /// Where guests run
    #[arg(long, value_enum, default_value = "process")]
    isolation: Isolation,
    /// Attempts that may wait; one client may have half of them
    #[arg(long, value_name = "N", default_value_t = Settings::default().queue, value_parser = at_least_one::<usize>())]
    queue: usize,
    /// Connections at once
    #[arg(long, value_name = "N", default_value_t = Settings::default().connections, value_parser = at_least_one::<usize>())]
    connections: usize,
    /// The largest body of a request, in MiB
    #[arg(long, value_name = "N", default_value_t = Settings::default().body_bytes >> 20, value_parser = at_least_one::<u64>())]
    body_mib: u64,
    /// Time in which the head of a request must arrive, in seconds; an idle connection is closed after it
    #[arg(long, value_name = "SECONDS", default_value_t = seconds(Settings::default().head_patience))]
    head_seconds: NonZeroU32,
    /// Time in which the body of a request must arrive, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = seconds(Settings::default().body_patience))]
    body_seconds: NonZeroU32,
    /// Wasm fuel that one core burns in a second: `/run_code` gives a program no more than that for each second that its client waits
    #[arg(long, value_name = "N", default_value_t = Settings::default().fuel_per_second, value_parser = parse_fuel)]
    fuel_per_second: u64,
    /// The longest time limit that a client may ask for, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Settings::default().most_seconds)]
    max_seconds: f64,
    /// The most memory that a client may ask for, in MiB, the interpreter's own share included
    #[arg(long, value_name = "N", default_value_t = Settings::default().most_memory_bytes >> 20, value_parser = parse_mib)]
    max_memory_mib: u64,
    /// The most output that a client gets, in MiB: of stdout, of stderr, of values and of fetched files each
    #[arg(long, value_name = "N", default_value_t = Settings::default().most_output_bytes >> 20, value_parser = parse_mib)]
    max_output_mib: u64,
    #[command(flatten)]
    cache: CacheArguments,
    /// Stop after this many seconds without a request
    #[arg(long, value_name = "SECONDS")]
    idle_exit: Option<NonZeroU32>,
}

/// A number of workers. In other commands `--workers` says where guests run.
fn parse_workers(text: &str) -> Result<NonZeroU16, String> {
    let place = Isolation::from_str(text, true).map(|_| format!("; `--isolation {text}` says where guests run"));
    text.parse().map_err(|_| format!("give a whole number from 1 to {}{}", u16::MAX, place.unwrap_or_default()))
}

/// A language that is not the image's own.
fn parse_language(name: &str) -> Result<&'static dyn Language, String> {
    let known = || languages().filter(|language| !is_python(*language));
    let found = known().find(|language| language.names().contains(&name));
    found.ok_or_else(|| {
        let names: Vec<&str> = known().map(|language| language.names()[0]).collect();
        format!("known are {}; Python is always served", names.join(", "))
    })
}

/// The address that `HOST:PORT` stands for.
fn resolve(text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().map_err(|error| format!("{error}: give an address or a name, and a port"))?;
    let found: Vec<SocketAddr> = found.collect();
    let chosen = found.iter().find(|address| address.is_ipv4()).or(found.first());
    chosen.copied().ok_or_else(|| "the name has no address".to_owned())
}

impl Arguments {
    fn body_bytes(&self) -> u64 {
        self.body_mib.saturating_mul(1 << 20)
    }

    fn check_max_memory(&self, image: &Image) -> Result<(), Failure> {
        check_memory("--max-memory-mib", Some(self.max_memory_mib), image.memory_bytes())
    }
}

pub(super) fn run(args: Arguments) -> Result<(), Failure> {
    let memory = MemoryPlan::of_this_machine(args.body_bytes());
    let settings = settings(&args, memory)?;
    // Where the image must be built first, this is checked when it has been: the service listens meanwhile.
    args.image.find_cached().map_or(Ok(()), |image| args.check_max_memory(&image))?;
    let address = args.socket.clone().map_or(Address::Tcp(args.addr), Address::Unix);
    let of_judge = settings.clone();
    let open = move || open_judge(&args, &of_judge, memory.kept_bytes);
    veriplay_server::serve(&address, settings, report_address, open).map_err(failure)
}

/// Prints the address, and what is to be known of one that others reach.
fn report_address(address: &Address) {
    progress::data(address);
    if let Address::Tcp(tcp) = address
        && !tcp.ip().is_loopback()
    {
        let what = "tokens, programs and verdicts travel in clear text";
        progress::say(format!(
            "warning: {what} to `{address}`: put a proxy that ends TLS in front of it, or listen on 127.0.0.1"
        ));
    }
}

fn duration(seconds: NonZeroU32) -> Duration {
    Duration::from_secs(u64::from(seconds.get()))
}

/// A default as an option has it.
fn seconds(duration: Duration) -> NonZeroU32 {
    u32::try_from(duration.as_secs()).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
}

fn settings(args: &Arguments, memory: MemoryPlan) -> Result<Settings, Failure> {
    if !(args.max_seconds > 0.0 && args.max_seconds <= 86_400.0) {
        let what = format!("`--max-seconds {}` is out of range", args.max_seconds);
        return Err(Failure::message(ExitCode::Usage, what).hint("give a number above 0, and at most 86400"));
    }
    let (workers, slices) = match args.workers {
        Some(workers) => (workers.get().into(), FirstSlices::beside(workers.get().into())),
        None => (memory.workers, FirstSlices { spares: memory.spares, ..FirstSlices::none() }),
    };
    Ok(Settings {
        workers,
        slices,
        queue: args.queue,
        connections: raise_descriptor_limit(args.connections),
        body_bytes: args.body_bytes(),
        all_body_bytes: memory.body_bytes,
        head_patience: duration(args.head_seconds),
        body_patience: duration(args.body_seconds),
        fuel_per_second: args.fuel_per_second,
        most_seconds: args.max_seconds,
        most_memory_bytes: mib_to_bytes(args.max_memory_mib),
        most_output_bytes: mib_to_bytes(args.max_output_mib),
        idle: args.idle_exit.map(duration),
        languages: served_languages(args)?,
        tokens: args.token_file.as_deref().map(read_tokens).transpose()?,
        ..Settings::default()
    })
}

/// Python, and each language that is asked for, once. There must be an image of it.
fn served_languages(args: &Arguments) -> Result<Vec<&'static dyn Language>, Failure> {
    let asked = |language: &&dyn Language| args.languages.iter().any(|asked| asked.names() == language.names());
    let served: Vec<_> = languages().filter(|language| is_python(*language) || asked(language)).collect();
    let of_images = served.iter().filter(|language| !is_python(**language) && !language.is_compiled());
    of_images.map(|language| find_spec(language.image())).collect::<Result<Vec<_>, _>>()?;
    Ok(served)
}

fn read_tokens(path: &Path) -> Result<Tokens, Failure> {
    let text = read_text(path)?;
    Tokens::parse(&text).with_context(|| format!("`{}` cannot be used", path.display())).map_err(|error| {
        let failure = Failure::new(ExitCode::Input, error);
        failure.hint("write one token a line, such as the output of `openssl rand -hex 32`")
    })
}

fn open_judge(args: &Arguments, settings: &Settings, kept_bytes: u64) -> Result<Arc<ServedJudge>, Failure> {
    let image = args.image.open()?;
    args.check_max_memory(&image)?;
    let places = settings.workers + settings.slices.spares;
    let options = SandboxOptions { max_parallel: places, ..SandboxOptions::fastest() };
    let of_languages = settings.languages.iter().filter(|language| !is_python(**language));
    let names: Vec<String> = of_languages.map(|language| language.image().to_owned()).collect();
    let mut images = ProgramImage::open_all(&names)?;
    let others = describe_images(&names, &images);
    images.insert(0, ProgramImage::Interpreted(Arc::clone(&image)));
    let sandbox = ProgramSandbox::open(images, options, args.isolation)?;
    sandbox.start_workers();
    let cache = args.cache.open()?;
    let Settings { most_memory_bytes, most_output_bytes, most_seconds, .. } = *settings;
    let most_fuel = ((most_seconds * Limits::FUEL_PER_SECOND as f64) as u64).min(*Limits::FUEL.end());
    Ok(ServedJudge::new(ServiceSandbox {
        image,
        sandbox,
        others,
        cache,
        most_memory_bytes,
        most_output_bytes,
        most_fuel,
        kept_bytes,
    }))
}

fn failure(error: ServeError<Failure>) -> Failure {
    let hint = match &error {
        ServeError::Listen(ListenError::Public(_)) => Some("add `--token-file FILE`, or listen on 127.0.0.1"),
        ServeError::Listen(ListenError::InUse(_)) => Some("stop it, or name another `--socket`"),
        ServeError::Listen(ListenError::NotSocket(_)) => Some("remove it, or name another `--socket`"),
        ServeError::Listen(ListenError::System { .. }) => Some("name another `--addr` or `--socket`"),
        ServeError::Judge(_) | ServeError::System(_) => None,
    };
    match error {
        ServeError::Judge(failure) => failure,
        error => Failure::message(ExitCode::Input, error).maybe_hint(hint),
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_language, resolve};

    #[test]
    fn a_language_is_named_as_requests_name_it() {
        for name in ["javascript", "nodejs", "typescript", "cpp", "c"] {
            assert!(parse_language(name).is_ok(), "{name}");
        }
        for name in ["python", "java", ""] {
            let refused = parse_language(name).unwrap_err();
            assert!(
                refused.starts_with("known are cpp, c, ") && refused.ends_with("; Python is always served"),
                "{refused}"
            );
        }
    }

    #[test]
    fn an_address_is_taken_as_it_is_and_a_name_is_resolved() {
        assert_eq!(resolve("127.0.0.1:0"), Ok(([127, 0, 0, 1], 0).into()));
        assert_eq!(resolve("[::1]:80").map(|address| address.to_string()), Ok("[::1]:80".to_owned()));
        let local = resolve("localhost:8080").expect("this machine has its own name");
        assert!(local.ip().is_loopback() && local.port() == 8080, "{local}");
        for wrong in ["localhost", "127.0.0.1", "localhost:http", ""] {
            assert!(resolve(wrong).is_err(), "{wrong}");
        }
    }
}

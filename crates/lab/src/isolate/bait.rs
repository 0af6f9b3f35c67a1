//! Bait on the host: a listener on loopback, a socket without a file, a file with a random name, a secret in the environment. A program
//! that finds one has reached the host.

use std::io::Write;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

use anyhow::Context;

use veriplay_console::exit::{ExitCode, Failure, ResultExt};
use veriplay_console::leftovers::TemporaryFolder;

/// The environment variable of the secret. The probes know its name.
pub(crate) const VARIABLE: &str = "VERIPLAY_PROBE_SECRET";

/// All bait. It is removed on drop; the listening threads end with the process.
pub struct Bait {
    /// Where the listener is.
    pub port: u16,
    folder: TemporaryFolder,
}

impl Bait {
    /// Opens the listener, and writes the file.
    pub fn lay() -> Result<Self, Failure> {
        let folder = TemporaryFolder::new("veriplay-bait-");
        let folder = folder.context("cannot make a temporary directory").or_fail(ExitCode::Host)?;
        std::fs::write(folder.path().join("file"), "the host's own")
            .context("cannot write a file")
            .or_fail(ExitCode::Host)?;
        let listener =
            TcpListener::bind("127.0.0.1:0").context("cannot listen on 127.0.0.1").or_fail(ExitCode::Host)?;
        let port = listener.local_addr().context("a listener without an address").or_fail(ExitCode::Host)?.port();
        std::thread::spawn(move || {
            for mut peer in listener.incoming().flatten() {
                // A peer that closed the connection has connected, which is all that counts.
                let _ = peer.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n");
            }
        });
        listen_abstract(port).context("cannot listen on a local socket").or_fail(ExitCode::Host)?;
        Ok(Self { port, folder })
    }

    /// The planted file.
    pub fn file(&self) -> String {
        self.folder.path().join("file").display().to_string()
    }

    /// The secret in the environment.
    pub fn secret(&self) -> String {
        format!("planted-{}", self.folder.path().file_name().unwrap_or_else(|| Path::new("").as_os_str()).display())
    }
}

fn listen_abstract(port: u16) -> std::io::Result<()> {
    let address = SocketAddr::from_abstract_name(format!("veriplay-{port}"))?;
    let listener = UnixListener::bind_addr(&address)?;
    std::thread::spawn(move || listener.incoming().flatten().for_each(drop));
    Ok(())
}

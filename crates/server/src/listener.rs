//! Sockets to listen on: TCP, which is the loopback device unless there are tokens, and Unix sockets that only their user may connect to.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, UnixListener, UnixSocket, UnixStream};

use crate::client::Peer;

/// Connections that wait to be accepted: a trainer opens hundreds at once.
const BACKLOG: u32 = 4096;

/// Where the service listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An address and port; port 0 is any free one.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "http://{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// The service cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Anyone who reaches the address could run programs.
    #[error("`{0}` is not a loopback address, and no token is asked for")]
    Public(SocketAddr),
    /// Another process listens there.
    #[error("another process listens on `{0}`")]
    InUse(PathBuf),
    /// Something else has that name.
    #[error("`{0}` exists and is not a socket")]
    NotSocket(PathBuf),
    /// The system refuses.
    #[error("cannot listen on `{address}`: {error}")]
    System {
        /// Where.
        address: Address,
        /// Why.
        error: io::Error,
    },
}

/// A socket to listen on.
pub(crate) enum Listener {
    Tcp(TcpListener),
    /// A Unix socket, whose file is removed at the end.
    Unix(UnixListener, SocketFile),
}

pub(crate) trait Socket: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Socket for T {}

impl Listener {
    /// Listens on `address`; without tokens only on a loopback address or a Unix socket.
    pub(crate) async fn open(address: &Address, has_tokens: bool) -> Result<Self, ListenError> {
        let system = |error| ListenError::System { address: address.clone(), error };
        match address {
            Address::Tcp(tcp) if !has_tokens && !tcp.ip().is_loopback() => Err(ListenError::Public(*tcp)),
            Address::Tcp(tcp) => listen_tcp(*tcp).map(Self::Tcp).map_err(system),
            Address::Unix(path) => {
                check_free(path).await?;
                let (listener, file) = listen_unix(path).map_err(system)?;
                Ok(Self::Unix(listener, file))
            }
        }
    }

    /// Where it listens: the port is the one that the system chose.
    pub(crate) fn address(&self) -> io::Result<Address> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Address::Tcp),
            Self::Unix(_, file) => Ok(Address::Unix(file.path.clone())),
        }
    }

    /// Accepts a connection, which has the number `connection`.
    pub(crate) async fn accept(&self, connection: u64) -> io::Result<(Box<dyn Socket>, Peer)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // Answers are small and written at once.
                let _ = stream.set_nodelay(true);
                Ok((Box::new(stream), Peer::Tcp(address)))
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                Ok((Box::new(stream), Peer::Unix(connection)))
            }
        }
    }
}

fn listen_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Checks that `path` is free, or a socket on which nobody listens any more.
async fn check_free(path: &Path) -> Result<(), ListenError> {
    match fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(found) if !found.file_type().is_socket() => Err(ListenError::NotSocket(path.to_owned())),
        Ok(_) => match UnixStream::connect(path).await {
            Ok(_) => Err(ListenError::InUse(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
            Err(error) => Err(ListenError::System { address: Address::Unix(path.to_owned()), error }),
        },
    }
}

/// Listens under another name first, so that nobody can connect before the rights are set; the new name replaces a stale socket.
fn listen_unix(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let mut early = path.as_os_str().to_owned();
    early.push(format!(".{}", std::process::id()));
    let early = PathBuf::from(early);
    let _ = fs::remove_file(&early);
    let socket = UnixSocket::new_stream()?;
    socket.bind(&early)?;
    let mut file = SocketFile::new(early.clone())?;
    fs::set_permissions(&early, fs::Permissions::from_mode(0o600))?;
    let listener = socket.listen(BACKLOG)?;
    fs::rename(&early, path)?;
    path.clone_into(&mut file.path);
    Ok((listener, file))
}

/// The file of a Unix socket. Dropping it removes the file, unless another process has replaced it.
pub(crate) struct SocketFile {
    path: PathBuf,
    inode: (u64, u64),
}

impl SocketFile {
    fn new(path: PathBuf) -> io::Result<Self> {
        let inode = inode(&path)?;
        Ok(Self { path, inode })
    }
}

fn inode(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if inode(&self.path).ok() == Some(self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

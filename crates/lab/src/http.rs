//! HTTP/1.1 on blocking sockets: as little work as possible on the side that measures, and full control over connections and bytes. `bench serve`
//! and the probes of a service use it; for everything else there is `ureq`.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

const LONGEST_BODY: usize = 1 << 30;
const LONGEST_LINE: u64 = 64 << 10;

/// Where a service listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    socket: Socket,
    /// The path before those of the endpoints.
    base: String,
    /// Sent as a bearer token.
    pub token: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Socket {
    /// `host:port`
    Tcp(String),
    Unix(PathBuf),
}

impl FromStr for Target {
    type Err = String;

    fn from_str(url: &str) -> Result<Self, String> {
        let target = |socket, base: &str| Self { socket, base: base.trim_end_matches('/').to_owned(), token: None };
        if let Some(path) = url.strip_prefix("unix:").filter(|path| path.starts_with('/')) {
            return Ok(target(Socket::Unix(path.into()), ""));
        }
        let wrong = || format!("`{url}` is neither `http://HOST:PORT` nor `unix:/PATH`");
        let rest = url.strip_prefix("http://").ok_or_else(wrong)?;
        let (authority, base) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        // The colons of an IPv6 address stand in brackets.
        let is_host = authority.starts_with('[') && authority.ends_with(']') || !authority.contains(':');
        let authority = match authority.rsplit_once(':') {
            _ if is_host && !authority.is_empty() => format!("{authority}:80"),
            Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => authority.to_owned(),
            _ => return Err(wrong()),
        };
        Ok(target(Socket::Tcp(authority), base))
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.socket {
            Socket::Tcp(authority) => write!(f, "http://{authority}{}", self.base),
            Socket::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Target {
    /// Opens a connection, whose reads and writes take no longer than `patience` each.
    pub(crate) fn connect(&self, patience: Duration) -> Result<Connection, ExchangeError> {
        let opened = match &self.socket {
            Socket::Tcp(authority) => {
                TcpStream::connect(authority).and_then(|stream| stream.set_nodelay(true).map(|()| stream))
            }
            // What is done with the stream from here on is the same for every kind of socket.
            Socket::Unix(path) => UnixStream::connect(path).map(|stream| TcpStream::from(OwnedFd::from(stream))),
        };
        let connection = Connection(BufReader::new(opened.map_err(ExchangeError::new)?));
        connection.set_patience(patience)?;
        Ok(connection)
    }
}

/// A request, as it is or changed by a probe before it is sent.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", path: path.into(), headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn post(path: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        Self { method: "POST", path: path.into(), headers, body: body.into() }
    }

    /// Sets a header; the last value of a name counts, that of `Content-Length` too.
    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// The bytes that are sent to `target`, with its token unless the request has one.
    pub(crate) fn bytes(&self, target: &Target) -> Vec<u8> {
        let Self { method, path, headers, body } = self;
        let has = |name: &str| headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let base = if path.starts_with('/') { target.base.as_str() } else { "" };
        let host = match &target.socket {
            Socket::Tcp(authority) => authority.as_str(),
            Socket::Unix(_) => "localhost",
        };
        let mut head = format!("{method} {base}{path} HTTP/1.1\r\nHost: {host}\r\n");
        for (name, value) in headers.iter().filter(|(_, value)| *value != Self::ABSENT) {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if !has("content-length") && !has("transfer-encoding") {
            let _ = write!(head, "Content-Length: {}\r\n", body.len());
        }
        if let (false, Some(token)) = (has("authorization"), &target.token) {
            let _ = write!(head, "Authorization: Bearer {token}\r\n");
        }
        head += "\r\n";
        [head.as_bytes(), body].concat()
    }

    /// The first line that is sent, for evidence.
    pub(crate) fn first_line(&self, target: &Target) -> String {
        String::from_utf8_lossy(&self.bytes(target)).lines().next().unwrap_or_default().to_owned()
    }

    /// Leaves a header out that would be added.
    const ABSENT: &str = "\0";

    pub(crate) fn without_token(self) -> Self {
        self.header("Authorization", Self::ABSENT)
    }

    pub(crate) fn with_token(self, token: &str) -> Self {
        self.header("Authorization", format!("Bearer {token}"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExchangeError {
    /// The connection ended before the answer began.
    Closed,
    /// The answer, or a part of it, did not come in time.
    TimedOut,
    Failed(String),
}

impl ExchangeError {
    fn new(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Self::TimedOut,
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => Self::Closed,
            _ => Self::Failed(error.to_string()),
        }
    }

    fn malformed(what: &str) -> Self {
        Self::Failed(format!("the answer is no HTTP/1.1: {what}"))
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The lines of its head after the first, each with its end.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    pub(crate) reusable: bool,
}

/// A TCP or Unix socket.
pub(crate) struct Connection(BufReader<TcpStream>);

enum Length {
    Known(usize),
    Chunked,
    ToTheEnd,
}

impl Connection {
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), ExchangeError> {
        self.0.get_mut().write_all(bytes).map_err(ExchangeError::new)
    }

    pub(crate) fn end_writing(&self) -> Result<(), ExchangeError> {
        self.0.get_ref().shutdown(Shutdown::Write).map_err(ExchangeError::new)
    }

    /// From now on reads and writes take no longer than this each.
    pub(crate) fn set_patience(&self, patience: Duration) -> Result<(), ExchangeError> {
        let (stream, patience) = (self.0.get_ref(), Some(patience));
        let set = stream.set_read_timeout(patience).and_then(|()| stream.set_write_timeout(patience));
        set.map_err(ExchangeError::new)
    }

    pub(crate) fn read_answer(&mut self) -> Result<Answer, ExchangeError> {
        let mut head = String::new();
        let (status, length, keep) = self.read_head(&mut head)?;
        let reusable = keep && !matches!(length, Length::ToTheEnd);
        Ok(Answer { status, head, body: self.read_body(length)?, reusable })
    }

    fn read_head(&mut self, head: &mut String) -> Result<(u16, Length, bool), ExchangeError> {
        let first = self.read_line()?;
        let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
        let status = status.ok_or_else(|| ExchangeError::malformed(&first))?;
        let (mut length, mut keep) = (Length::ToTheEnd, first.starts_with("HTTP/1.1"));
        loop {
            let line = self.read_line()?;
            let Some((name, value)) = line.split_once(':') else {
                return if line.is_empty() { Ok((status, length, keep)) } else { Err(ExchangeError::malformed(&line)) };
            };
            head.push_str(&line);
            head.push('\n');
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => {
                    let bytes = value.parse().ok().filter(|bytes| *bytes <= LONGEST_BODY);
                    length = Length::Known(bytes.ok_or_else(|| ExchangeError::malformed(&line))?);
                }
                "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => length = Length::Chunked,
                "connection" => keep &= !value.eq_ignore_ascii_case("close"),
                _ => {}
            }
        }
    }

    fn read_body(&mut self, length: Length) -> Result<Vec<u8>, ExchangeError> {
        let mut body = Vec::new();
        match length {
            Length::Known(bytes) => self.read_piece(bytes, &mut body)?,
            Length::ToTheEnd => {
                let most = LONGEST_BODY as u64;
                (&mut self.0).take(most).read_to_end(&mut body).map_err(ExchangeError::new)?;
            }
            Length::Chunked => loop {
                let line = self.read_line()?;
                let bytes = line.split(';').next().and_then(|digits| usize::from_str_radix(digits.trim(), 16).ok());
                let bytes = bytes.filter(|bytes| body.len() + bytes <= LONGEST_BODY);
                let bytes = bytes.ok_or_else(|| ExchangeError::malformed(&line))?;
                self.read_piece(bytes, &mut body)?;
                let end = self.read_line()?;
                if !end.is_empty() {
                    return Err(ExchangeError::malformed(&end));
                }
                if bytes == 0 {
                    break;
                }
            },
        }
        Ok(body)
    }

    fn read_piece(&mut self, bytes: usize, body: &mut Vec<u8>) -> Result<(), ExchangeError> {
        let read = (&mut self.0).take(bytes as u64).read_to_end(body).map_err(ExchangeError::new)?;
        if read == bytes { Ok(()) } else { Err(ExchangeError::Failed("the answer was cut off".to_owned())) }
    }

    /// A line without its end. Nothing at all is a connection that was closed.
    fn read_line(&mut self) -> Result<String, ExchangeError> {
        let mut line = Vec::new();
        (&mut self.0).take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(ExchangeError::new)?;
        match line.strip_suffix(b"\r\n").or_else(|| line.strip_suffix(b"\n")) {
            Some(text) => Ok(String::from_utf8_lossy(text).into_owned()),
            None if line.is_empty() => Err(ExchangeError::Closed),
            None => Err(ExchangeError::Failed("the answer was cut off".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer that is read from these bytes, which end the connection.
    fn read(bytes: &[u8]) -> Result<Answer, ExchangeError> {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair of sockets");
        theirs.write_all(bytes).expect("they fit the socket's buffer");
        theirs.shutdown(std::net::Shutdown::Write).expect("it can be shut");
        Connection(BufReader::new(TcpStream::from(OwnedFd::from(ours)))).read_answer()
    }

    #[test]
    fn addresses_are_read() {
        for (url, shown) in [
            ("http://localhost:8080", "http://localhost:8080"),
            ("http://localhost:8080/base/", "http://localhost:8080/base"),
            ("http://example.org/a", "http://example.org:80/a"),
            ("http://[::1]:9", "http://[::1]:9"),
            ("http://[::1]", "http://[::1]:80"),
            ("unix:/run/v.sock", "unix:/run/v.sock"),
        ] {
            assert_eq!(url.parse::<Target>().map(|target| target.to_string()), Ok(shown.to_owned()), "{url}");
        }
        for url in ["localhost:80", "https://h", "http://", "http://:80", "http://h:x", "http://h:99999", "unix:v.sock"]
        {
            assert!(url.parse::<Target>().is_err(), "{url}");
        }
    }

    #[test]
    fn bodies_of_every_framing_are_read_and_a_connection_is_kept_where_both_sides_may() {
        for (bytes, status, body, reusable) in [
            (&b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd"[..], 200, "abc", true),
            (
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
                200,
                "abcde",
                true,
            ),
            (b"HTTP/1.0 200 OK\r\n\r\nto the end", 200, "to the end", false),
            (b"HTTP/1.1 429 x\r\nContent-Length: 0\r\n\r\n", 429, "", true),
            (b"HTTP/1.1 200 x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 200, "", false),
            (b"HTTP/1.0 200 x\r\nContent-Length: 0\r\n\r\n", 200, "", false),
        ] {
            let Ok(answer) = read(bytes) else { panic!("{}", String::from_utf8_lossy(bytes)) };
            let found = (answer.status, answer.body.as_slice(), answer.reusable);
            assert_eq!(found, (status, body.as_bytes(), reusable), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        assert_eq!(read(b"").err(), Some(ExchangeError::Closed));
        for bytes in [
            &b"HTTP/1.1 2"[..],
            b"SSH-2.0-x\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
            b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
        ] {
            assert!(matches!(read(bytes), Err(ExchangeError::Failed(_))), "{}", String::from_utf8_lossy(bytes));
        }
    }
}

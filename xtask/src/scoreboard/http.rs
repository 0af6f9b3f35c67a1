//! The little of HTTP/1.1 that a caller on loopback needs: one request after another on a kept connection.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The longest body of an answer.
const LONGEST: u64 = 64 << 20;

/// An open connection.
pub(super) struct Connection(BufReader<TcpStream>);

fn malformed(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the answer is no HTTP/1.1: `{what}`"))
}

impl Connection {
    /// Connects to a port of this machine.
    ///
    /// # Errors
    /// When nobody listens.
    pub(super) fn open(port: u16, patience: Duration) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(patience))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Posts JSON, and returns the status and the body of the answer.
    ///
    /// # Errors
    /// When the connection breaks, or nothing came in time, or what came is not HTTP.
    pub(super) fn post(&mut self, path: &str, body: &str) -> io::Result<(u16, Vec<u8>)> {
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        self.0.get_mut().write_all((head + body).as_bytes())?;
        let first = self.line()?;
        let status = first.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let status = status.ok_or_else(|| malformed(&first))?;
        let mut length = None;
        loop {
            let line = self.line()?;
            match line.split_once(':') {
                None if line.is_empty() => break,
                None => return Err(malformed(&line)),
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().ok()
                }
                Some(_) => {}
            }
        }
        let length: u64 = length.filter(|length| *length <= LONGEST).ok_or_else(|| malformed("no Content-Length"))?;
        let mut body = Vec::new();
        (&mut self.0).take(length).read_to_end(&mut body)?;
        if body.len() as u64 == length { Ok((status, body)) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if (&mut self.0).take(64 << 10).read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

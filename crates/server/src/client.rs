//! Who a request is from: the bearer token where tokens are asked for, else the peer. Fairness is between clients.

use std::net::SocketAddr;

/// The token file's tokens, as digests: comparing digests takes the same time whatever the token is.
#[derive(Clone, Default)]
pub struct Tokens(Vec<blake3::Hash>);

/// The tokens of a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The file has no token.
    #[error("it holds no token")]
    Empty,
    /// A token is easy to guess.
    #[error("line {line}: a token has at least {least} characters")]
    Short {
        /// The line, from 1.
        line: usize,
        /// The fewest characters.
        least: usize,
    },
    /// A token cannot be sent in a header.
    #[error("line {0}: a token has printable ASCII characters without spaces")]
    Characters(usize),
}

const LEAST: usize = 16;

impl Tokens {
    /// Reads tokens, one a line. Blank lines and lines that begin with `#` are left out.
    ///
    /// # Errors
    /// A token is too short or cannot be sent, or there is none.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let lines = text.lines().map(str::trim).enumerate();
        let tokens = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let digests: Vec<blake3::Hash> = tokens.map(|(at, token)| digest(at + 1, token)).collect::<Result<_, _>>()?;
        if digests.is_empty() { Err(TokenError::Empty) } else { Ok(Self(digests)) }
    }

    /// Whether `token` is one of these.
    pub(crate) fn contains(&self, token: &str) -> bool {
        self.find(token).is_some()
    }

    /// The digest of `token` where it is one of these. Every token is compared, each in constant time.
    fn find(&self, token: &str) -> Option<blake3::Hash> {
        let given = blake3::hash(token.as_bytes());
        let found = self.0.iter().fold(false, |found, known| found | (*known == given));
        found.then_some(given)
    }
}

fn digest(line: usize, token: &str) -> Result<blake3::Hash, TokenError> {
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(TokenError::Characters(line));
    }
    match token.len() < LEAST {
        true => Err(TokenError::Short { line, least: LEAST }),
        false => Ok(blake3::hash(token.as_bytes())),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    Tcp(SocketAddr),
    /// A connection to the Unix socket, by its number: local processes have no other name.
    Unix(u64),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ClientKey {
    Token(blake3::Hash),
    Address(std::net::IpAddr),
    Connection(u64),
    #[cfg(test)]
    Named(String),
}

impl ClientKey {
    /// The client of a request with this `Authorization` header from `peer`; `None` where a token is asked for and this is none.
    pub(crate) fn identify(tokens: Option<&Tokens>, authorization: Option<&str>, peer: Peer) -> Option<Self> {
        let Some(tokens) = tokens else { return Some(Self::of_peer(peer)) };
        let (scheme, token) = authorization?.split_once(' ')?;
        let bearer = scheme.eq_ignore_ascii_case("bearer");
        tokens.find(token.trim()).filter(|_| bearer).map(Self::Token)
    }

    fn of_peer(peer: Peer) -> Self {
        match peer {
            Peer::Tcp(address) => Self::Address(address.ip()),
            Peer::Unix(connection) => Self::Connection(connection),
        }
    }

    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

/// What the outermost layer finds out about a request, for the endpoints.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) client: ClientKey,
    /// The id that the client sent, or was given.
    pub(crate) request_id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn identify(authorization: Option<&str>) -> Option<ClientKey> {
        let tokens = Tokens::parse(&format!("# mine\n\n{TOKEN}\n{TOKEN}2\n")).expect("two tokens");
        ClientKey::identify(Some(&tokens), authorization, Peer::Unix(7))
    }

    #[test]
    fn a_known_token_names_its_client() {
        let first = identify(Some(&format!("Bearer {TOKEN}"))).expect("it is known");
        let second = identify(Some(&format!("bearer {TOKEN}2"))).expect("it is known");
        assert_ne!(first, second);
    }

    #[test]
    fn anything_else_is_nobody() {
        let basic = format!("Basic {TOKEN}");
        let longer = format!("Bearer {TOKEN}3");
        for wrong in [None, Some(""), Some("Bearer"), Some("Bearer "), Some(TOKEN), Some(&basic), Some(&longer)] {
            assert_eq!(identify(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn without_tokens_the_peer_is_the_client() {
        let peer = |address: &str| Peer::Tcp(address.parse().expect("an address"));
        let key = |peer| ClientKey::identify(None, Some("Bearer anything"), peer);
        assert_eq!(key(peer("127.0.0.1:1")), key(peer("127.0.0.1:2")));
        assert_ne!(key(peer("127.0.0.1:1")), key(peer("127.0.0.2:1")));
        assert_ne!(key(Peer::Unix(1)), key(Peer::Unix(2)));
    }

    #[test]
    fn tokens_that_are_easy_to_guess_or_cannot_be_sent_are_rejected() {
        assert_eq!(Tokens::parse("# nothing\n\n").err(), Some(TokenError::Empty));
        assert_eq!(Tokens::parse("\nshort\n").err(), Some(TokenError::Short { line: 2, least: LEAST }));
        assert_eq!(Tokens::parse("0123456789 abcdef").err(), Some(TokenError::Characters(1)));
    }
}

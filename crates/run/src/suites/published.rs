//! The published files of public sets: fetched once into the cache, at one commit of the repository that publishes them.
//!
//! Called where the folder of `--data` has no file of a set. Invariants: bytes with another hash than the pinned one are neither used nor kept;
//! a file appears in the cache when it is complete.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use veriplay_console::progress;
use veriplay_repository::pip::hash_sha256;
use veriplay_sandbox::default_cache_dir;

/// Where files of repositories are published.
const GITHUB: &str = "https://raw.githubusercontent.com";
/// The environment variable with an address that stands for [`GITHUB`].
pub(super) const MIRROR: &str = "VERIPLAY_DATA_MIRROR";
/// The largest pinned file has less than 1 MB.
const LONGEST_FILE: u64 = 64 << 20;
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(30);
/// How long a whole file may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// A file of a repository on GitHub whose hash is known.
#[derive(Debug)]
pub(super) struct PublishedFile {
    /// `OWNER/NAME` of the repository.
    pub(super) repository: &'static str,
    pub(super) commit: &'static str,
    /// Where the repository has the file.
    pub(super) path: &'static str,
    pub(super) sha256: &'static str,
}

impl PublishedFile {
    pub(super) fn has_bytes(&self, bytes: &[u8]) -> bool {
        hash_sha256(bytes) == self.sha256
    }

    /// The file in the cache, fetched where it is not there.
    pub(super) fn fetch(&self) -> anyhow::Result<PathBuf> {
        let mirror = std::env::var(MIRROR).ok().filter(|mirror| !mirror.is_empty());
        self.fetch_into(&default_cache_dir()?.join("sets"), mirror.as_deref().unwrap_or(GITHUB))
    }

    fn fetch_into(&self, folder: &Path, server: &str) -> anyhow::Result<PathBuf> {
        let folder = folder.join(self.sha256);
        let kept = folder.join(self.path.rsplit('/').next().unwrap_or(self.path));
        if std::fs::read(&kept).is_ok_and(|bytes| self.has_bytes(&bytes)) {
            return Ok(kept);
        }
        let url = format!("{}/{}/{}/{}", server.trim_end_matches('/'), self.repository, self.commit, self.path);
        progress::say(format!("fetching `{url}`, once"));
        let bytes = download(&url).with_context(|| format!("`{url}` cannot be fetched"))?;
        let found = hash_sha256(&bytes);
        ensure!(found == self.sha256, "`{url}` has sha256 {found}, and {} is pinned", self.sha256);
        keep(&folder, &kept, &bytes).with_context(|| format!("`{}` cannot be written", kept.display()))?;
        Ok(kept)
    }
}

/// Proxies are those of the environment (`HTTPS_PROXY` and its kin).
fn download(url: &str) -> Result<Vec<u8>, ureq::Error> {
    let config = ureq::Agent::config_builder().timeout_connect(Some(CONNECT)).timeout_global(Some(PATIENCE)).build();
    let mut response = ureq::Agent::from(config).get(url).call()?;
    response.body_mut().with_config().limit(LONGEST_FILE).read_to_vec()
}

/// Writes the file under a name of its own and renames it: another process may be fetching it too.
fn keep(folder: &Path, path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut staged = tempfile::NamedTempFile::new_in(folder)?;
    staged.write_all(bytes)?;
    staged.as_file().sync_all()?;
    staged.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::path::Path;
    use std::sync::mpsc::{Receiver, channel};

    use super::PublishedFile;

    const BODY: &[u8] = b"{\"task_id\": \"x/1\"}\n";
    const FILE: PublishedFile = PublishedFile {
        repository: "owner/sets",
        commit: "0123abcd",
        path: "data/set.jsonl",
        sha256: "66be334e325c17f5fbde1d28325cde25c4abd8d0ebe8d7f281ade19793584898",
    };

    /// A server that answers each request with the next of these, and its address. It hands on the first lines of the requests.
    fn serve(answers: &'static [(&str, &[u8])]) -> (String, Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            for ((status, body), stream) in answers.iter().zip(listener.incoming()) {
                let mut stream = stream.expect("a connection");
                let lines = BufReader::new(stream.try_clone().expect("clones")).lines().map_while(Result::ok);
                let lines: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                sender.send(lines[0].clone()).ok();
                let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                stream.write_all(&[head.as_bytes(), body].concat()).ok();
            }
        });
        (url, requests)
    }

    fn fetched(folder: &Path, server: &str) -> Result<Vec<u8>, String> {
        let path = FILE.fetch_into(folder, server).map_err(|error| format!("{error:#}"))?;
        assert!(path.ends_with("set.jsonl"), "{}", path.display());
        Ok(std::fs::read(path).expect("it is there"))
    }

    #[test]
    fn a_file_is_fetched_once_at_its_commit_and_again_where_the_cache_is_damaged() {
        let folder = tempfile::tempdir().expect("a directory");
        let (server, requests) = serve(&[("200 OK", BODY), ("200 OK", BODY)]);
        // A server is asked at the first and the third time.
        assert_eq!(fetched(folder.path(), &format!("{server}/")).as_deref(), Ok(BODY));
        assert_eq!(fetched(folder.path(), &server).as_deref(), Ok(BODY));
        assert_eq!(requests.try_iter().collect::<Vec<_>>(), ["GET /owner/sets/0123abcd/data/set.jsonl HTTP/1.1"]);
        std::fs::write(FILE.fetch_into(folder.path(), &server).expect("kept"), "cut").expect("it is written");
        assert_eq!(fetched(folder.path(), &server).as_deref(), Ok(BODY));
        assert_eq!(requests.try_iter().count(), 1);
        let kept = std::fs::read_dir(folder.path().join(FILE.sha256)).expect("a folder").count();
        assert_eq!(kept, 1, "no staged file is left");
    }

    #[test]
    fn what_is_not_the_pinned_file_is_not_kept_and_the_error_names_address_and_cause() {
        let folder = tempfile::tempdir().expect("a directory");
        let (server, _requests) = serve(&[("200 OK", b"<html>log in</html>"), ("404 Not Found", b"")]);
        for wanted in ["is pinned", "404"] {
            let error = fetched(folder.path(), &server).expect_err("refused");
            let url = format!("`{server}/owner/sets/0123abcd/data/set.jsonl`");
            assert!(error.contains(&url) && error.contains(wanted), "{error}");
        }
        assert!(!folder.path().join(FILE.sha256).exists());
    }
}

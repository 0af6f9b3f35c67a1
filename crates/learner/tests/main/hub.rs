//! Checkpoints from a hub: a server on loopback that speaks as the hub does, and none at all.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use veriplay_learner::{
    HubOptions, Learner, LearnerOptions, ModelConfig, cached_models, resolve_config, resolve_model,
};

use crate::common::{learner, tiny_config};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A hub with one repository, `org/tiny`, and another that wants a licence, `org/gated`.
struct Server {
    endpoint: String,
    requests: Arc<AtomicUsize>,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl Server {
    fn start(files: BTreeMap<String, Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
        let (requests, files) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(files)));
        let (counter, shared) = (Arc::clone(&requests), Arc::clone(&files));
        // It ends with the process; tests wait for answers, never for it.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counter.fetch_add(1, Ordering::SeqCst);
                let files = shared.lock().expect("no panic").clone();
                answer(stream, &files);
            }
        });
        Self { endpoint, requests, files }
    }

    fn options(&self, cache: &TempDir) -> HubOptions {
        HubOptions {
            endpoint: Some(self.endpoint.clone()),
            cache: Some(cache.path().to_owned()),
            token: None,
            revision: None,
        }
    }
}

fn answer(mut stream: TcpStream, files: &BTreeMap<String, Vec<u8>>) {
    let mut lines = BufReader::new(stream.try_clone().expect("clones")).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).map(|l| l.to_lowercase()).collect();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let from = headers.iter().find_map(|h| h.strip_prefix("range: bytes=")?.split('-').next()?.parse::<usize>().ok());
    let first_only = headers.iter().any(|h| h.ends_with("bytes=0-0"));
    let respond = |stream: &mut TcpStream, status: &str, more: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n{more}\r\n", body.len());
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).ok();
    };
    if path.contains("/org/gated/") {
        return respond(&mut stream, "403 Forbidden", "", b"");
    }
    if path == "/api/models/org/tiny/revision/main" {
        let siblings: Vec<_> = files.keys().map(|name| serde_json::json!({ "rfilename": name })).collect();
        let info = serde_json::json!({ "sha": COMMIT, "siblings": siblings }).to_string();
        return respond(&mut stream, "200 OK", "content-type: application/json\r\n", info.as_bytes());
    }
    let name = path.strip_prefix(&format!("/org/tiny/resolve/{COMMIT}/"));
    match name.and_then(|name| Some((name, files.get(name)?))) {
        Some((name, bytes)) => {
            let from = from.unwrap_or(0);
            let to = if first_only { 1 } else { bytes.len() };
            let more = format!(
                "etag: \"{}\"\r\nx-repo-commit: {COMMIT}\r\ncontent-range: bytes {from}-{}/{}\r\n",
                name.replace('/', "_"),
                to - 1,
                bytes.len()
            );
            respond(&mut stream, "206 Partial Content", &more, &bytes[from..to]);
        }
        None => respond(&mut stream, "404 Not Found", "", b""),
    }
}

/// The files of a saved model, in several shards, and one that a checkpoint does not need.
fn files() -> BTreeMap<String, Vec<u8>> {
    let dir = tempfile::tempdir().expect("a directory");
    learner(tiny_config()).save_sharded(dir.path(), 40_000).expect("saves");
    let entries = std::fs::read_dir(dir.path()).expect("lists").flatten();
    let read =
        |e: std::fs::DirEntry| (e.file_name().to_string_lossy().into_owned(), std::fs::read(e.path()).expect("reads"));
    let mut files: BTreeMap<String, Vec<u8>> = entries.map(read).collect();
    files.insert("pytorch_model.bin".to_owned(), b"unused".to_vec());
    files.insert("additional_chat_templates/tool_use.jinja".to_owned(), b"{{ tools }}".to_vec());
    files
}

#[test]
fn an_id_is_fetched_once_with_only_what_it_needs_and_then_comes_from_the_cache() {
    let (server, cache) = (Server::start(files()), tempfile::tempdir().expect("a directory"));
    let dir = resolve_model("org/tiny", &server.options(&cache)).expect("fetches");
    let fetched = Learner::load(&dir, LearnerOptions::default()).expect("loads");
    assert_eq!(fetched.named_weights(), learner(tiny_config()).named_weights());
    assert!(!dir.join("pytorch_model.bin").exists() && dir.join("additional_chat_templates/tool_use.jinja").exists());
    let asked = server.requests.load(Ordering::SeqCst);
    assert_eq!(resolve_model("org/tiny", &server.options(&cache)).expect("is there"), dir);
    std::fs::create_dir_all(cache.path().join("models--org--cut/refs")).expect("a folder");
    assert_eq!(cached_models(&server.options(&cache)), ["org/tiny"], "a repository without files is not listed");
    assert_eq!(server.requests.load(Ordering::SeqCst), asked, "the cache answers without the network");
    let shard =
        std::fs::read_dir(&dir).expect("lists").flatten().find(|e| e.file_name().to_string_lossy().contains("-of-"));
    std::fs::remove_file(shard.expect("it is sharded").path()).expect("removes");
    assert!(cached_models(&server.options(&cache)).is_empty(), "a shard is missing");
    assert_eq!(resolve_model("org/tiny", &server.options(&cache)).expect("fetches what is missing"), dir);
    assert!(Learner::load(&dir, LearnerOptions::default()).is_ok());
}

#[test]
fn the_shape_of_an_id_is_fetched_without_its_weights() {
    let (server, cache) = (Server::start(files()), tempfile::tempdir().expect("a directory"));
    let dir = resolve_config("org/tiny", &server.options(&cache)).expect("fetches");
    let names: Vec<_> = std::fs::read_dir(&dir).expect("lists").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["config.json"]);
    let text = std::fs::read_to_string(dir.join("config.json")).expect("reads");
    assert_eq!(ModelConfig::parse(&text).expect("a shape").num_hidden_layers, tiny_config().num_hidden_layers);
    assert!(cached_models(&server.options(&cache)).is_empty(), "it is no checkpoint yet");
    assert_eq!(resolve_model("org/tiny", &server.options(&cache)).expect("fetches the rest"), dir);
    let asked = server.requests.load(Ordering::SeqCst);
    assert_eq!(resolve_config("org/tiny", &server.options(&cache)).expect("is there"), dir);
    assert_eq!(server.requests.load(Ordering::SeqCst), asked, "the cache answers without the network");
    server.files.lock().expect("no panic").retain(|name, _| !name.contains("safetensors"));
    let empty = tempfile::tempdir().expect("a directory");
    let error = resolve_config("org/tiny", &server.options(&empty)).expect_err("no weights").to_string();
    assert!(error.contains("`org/tiny` has no `model.safetensors`"), "{error}");
}

#[test]
fn without_network_the_error_names_the_id_and_gives_a_hint() {
    // A port that was free a moment ago: nobody listens there.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
    let cache = tempfile::tempdir().expect("a directory");
    let endpoint = Some(format!("http://127.0.0.1:{port}"));
    let options = HubOptions { endpoint, cache: Some(cache.path().to_owned()), ..HubOptions::default() };
    let error = resolve_model("org/tiny", &options).expect_err("nobody listens");
    let message = error.to_string();
    assert!(message.contains("`org/tiny`") && message.contains("cannot be reached"), "{message}");
    let hint = error.hint().expect("it has one");
    assert!(hint.contains(&cache.path().display().to_string()), "{hint}");
}

#[test]
fn a_hub_that_refuses_differs_from_one_that_is_not_there() {
    let (server, cache) = (Server::start(files()), tempfile::tempdir().expect("a directory"));
    for (id, status, word) in [("org/gated", 403, "licence"), ("org/other", 404, "check the id")] {
        let message = resolve_model(id, &server.options(&cache)).expect_err("refused").to_string();
        assert!(message.starts_with(&format!("the hub answers {status} for `{id}`: ")), "{message}");
        assert!(message.contains(word), "{message}");
    }
    server.files.lock().expect("no panic").retain(|name, _| !name.contains("safetensors"));
    let message = resolve_model("org/tiny", &server.options(&cache)).expect_err("no weights").to_string();
    assert!(message.contains("`org/tiny` has no `model.safetensors`"), "{message}");
}

#[test]
fn a_directory_is_taken_as_it_is_and_what_is_neither_is_refused_without_asking() {
    let dir = tempfile::tempdir().expect("a directory");
    let name = dir.path().to_str().expect("plain");
    assert_eq!(resolve_model(name, &HubOptions::default()).expect("a directory"), dir.path());
    let server = Server::start(files());
    for name in [
        "", "tiny", "/no/such/directory", "./org/tiny", "../tiny", "org/../tiny", "org/.tiny", "org/ti ny", "a/b/c",
        "org/", "é/x",
    ] {
        let error = resolve_model(name, &server.options(&dir)).expect_err("no id").to_string();
        assert!(error.starts_with(&format!("`{name}` is neither a directory nor a hub id")), "{error}");
    }
    assert_eq!(server.requests.load(Ordering::SeqCst), 0);
}

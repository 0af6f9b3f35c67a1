//! The log of a run's rollouts: the facts of all of them in memory, their texts read from the file when they are asked for.
//!
//! The log grows by whole zstd frames, one a step. Killed and resumed, a run cuts its log and writes it again. So a refresh reads what is
//! new, and begins anew where the frame that it read last is not there any more.

use std::collections::HashSet;
use std::fmt::{Display, Formatter};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use serde_json::Value;
use sha2::{Digest, Sha256};
use veriplay_console::exit::{ExitCode, Failure, ResultExt};

use crate::records::{Response, ResponseFacts, ResponseId, responses};

/// The most bytes of one step, decompressed: the log is not ours to trust with all memory.
const MOST_FRAME_BYTES: u64 = 1 << 30;

pub(crate) struct RolloutLog {
    path: PathBuf,
    frames: Vec<Frame>,
    rollouts: Vec<Rollout>,
    /// Every text that facts share, once.
    texts: HashSet<Arc<str>>,
}

/// The records that were appended at once.
struct Frame {
    start: u64,
    end: u64,
    /// Of its text.
    hash: u64,
}

pub(crate) struct Rollout {
    pub facts: ResponseFacts,
    /// Of the task that it attempts, or that it proposes; 0 where there is none.
    pub task: TaskKey,
    frame: usize,
    line: usize,
}

/// Names a task by its content, shortly enough for an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TaskKey(pub u64);

impl Display for TaskKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl TaskKey {
    pub(crate) fn of(response: &Response<'_>) -> Self {
        match response.task() {
            Value::Null => Self::default(),
            task => {
                let digest = Sha256::digest(task.to_string());
                Self(digest.iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte)))
            }
        }
    }
}

impl RolloutLog {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, frames: Vec::new(), rollouts: Vec::new(), texts: HashSet::new() }
    }

    /// All rollouts, in the order of the log.
    pub(crate) fn rollouts(&self) -> &[Rollout] {
        &self.rollouts
    }

    /// Reads what the file has now. A frame that is still being written is left for the next time.
    pub(crate) fn refresh(&mut self) -> Result<(), Failure> {
        let Some(mut file) = self.open()? else {
            self.clear();
            return Ok(());
        };
        let bytes = file.get_ref().metadata().or_fail(ExitCode::Input)?.len();
        if !self.still_holds(&mut file, bytes) {
            self.clear();
        }
        let mut start = self.frames.last().map_or(0, |frame| frame.end);
        while start < bytes {
            let Some((text, end)) = read_frame(&mut file, start) else { break };
            self.add(&text, start, end);
            start = end;
        }
        Ok(())
    }

    /// The line of the log that has this rollout; `None` where there is none.
    pub(crate) fn read(&self, id: ResponseId) -> Result<Option<String>, Failure> {
        let Some(rollout) = self.rollouts.iter().find(|rollout| rollout.facts.id == id) else { return Ok(None) };
        let Some(mut file) = self.open()? else { return Ok(None) };
        let frame = read_frame(&mut file, self.frames[rollout.frame].start);
        Ok(frame.and_then(|(text, _)| text.lines().nth(rollout.line).map(str::to_owned)))
    }

    /// How the responses at these places in [`RolloutLog::rollouts`] begin, in their order.
    pub(crate) fn beginnings(&self, places: &[usize]) -> Result<Vec<String>, Failure> {
        let Some(mut file) = self.open()? else { return Ok(vec![String::new(); places.len()]) };
        let mut last: Option<(usize, String)> = None;
        let mut beginning = |place: &usize| {
            let Rollout { facts, frame, line, .. } = &self.rollouts[*place];
            // Rollouts of one step stand beside each other.
            if last.as_ref().is_none_or(|(known, _)| known != frame) {
                last = read_frame(&mut file, self.frames[*frame].start).map(|(text, _)| (*frame, text));
            }
            let line: Value = serde_json::from_str(last.as_ref()?.1.lines().nth(*line)?).ok()?;
            responses(&line).iter().find(|response| response.id == facts.id).map(Response::beginning)
        };
        Ok(places.iter().map(|place| beginning(place).unwrap_or_default()).collect())
    }

    /// Places in [`RolloutLog::rollouts`], out of `chosen` and in its order, of those in which `wanted` stands.
    pub(crate) fn search(&self, chosen: Vec<usize>, wanted: &str) -> Result<Vec<usize>, Failure> {
        let Some(mut file) = self.open()? else { return Ok(Vec::new()) };
        let frames: HashSet<usize> = chosen.iter().map(|place| self.rollouts[*place].frame).collect();
        let mut found = HashSet::new();
        for frame in frames {
            let Some((text, _)) = read_frame(&mut file, self.frames[frame].start) else { continue };
            for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
                let fits = responses(&line).into_iter().filter(|response| response.contains(wanted));
                found.extend(fits.map(|response| response.id.to_string()));
            }
        }
        Ok(chosen.into_iter().filter(|place| found.contains(&self.rollouts[*place].facts.id.to_string())).collect())
    }

    fn open(&self) -> Result<Option<BufReader<File>>, Failure> {
        match File::open(&self.path) {
            Ok(file) => Ok(Some(BufReader::new(file))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(error).with_context(|| format!("cannot read `{}`", self.path.display())).or_fail(ExitCode::Input)
            }
        }
    }

    fn clear(&mut self) {
        *self = Self::new(std::mem::take(&mut self.path));
    }

    /// Whether the frame that was read last is still what it was: then those before it are, too.
    fn still_holds(&self, file: &mut BufReader<File>, bytes: u64) -> bool {
        let Some(last) = self.frames.last() else { return true };
        last.end <= bytes
            && read_frame(file, last.start).is_some_and(|(text, end)| end == last.end && hash(&text) == last.hash)
    }

    fn add(&mut self, text: &str, start: u64, end: u64) {
        let frame = self.frames.len();
        self.frames.push(Frame { start, end, hash: hash(text) });
        for (number, line) in text.lines().enumerate() {
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            for response in responses(&line) {
                let facts = self.share_texts(response.facts());
                self.rollouts.push(Rollout { facts, task: TaskKey::of(&response), frame, line: number });
            }
        }
    }

    fn share_texts(&mut self, mut facts: ResponseFacts) -> ResponseFacts {
        for text in [&mut facts.task_type, &mut facts.status, &mut facts.rule] {
            match self.texts.get(text) {
                Some(known) => *text = Arc::clone(known),
                None => drop(self.texts.insert(Arc::clone(text))),
            }
        }
        facts
    }
}

/// The text of the frame that begins at `start`, and where it ends; `None` where no whole frame is there.
fn read_frame(file: &mut BufReader<File>, start: u64) -> Option<(String, u64)> {
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut text = String::new();
    let decoder = zstd::Decoder::with_buffer(&mut *file).ok()?.single_frame();
    let bytes = decoder.take(MOST_FRAME_BYTES).read_to_string(&mut text).ok()?;
    let whole = (bytes as u64) < MOST_FRAME_BYTES;
    whole.then_some((text, file.stream_position().ok()?))
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::path::Path;

    use serde_json::json;

    use super::RolloutLog;

    /// A frame of one task with attempts that say these texts.
    fn frame(step: u64, texts: &[&str]) -> Vec<u8> {
        let attempt = |text: &&str| json!({"episode": {"turns": [{"prompt": "p", "text": text}]}, "judged": {"verdict": {"Ok": {"status": "accepted"}}}});
        let attempts: Vec<_> = texts.iter().map(attempt).collect();
        let line = json!({"task": {"step": step, "index": 0, "task": {"n": step}, "attempts": attempts}});
        zstd::encode_all(format!("{line}\n").as_bytes(), 1).expect("it is compressed")
    }

    fn append(path: &Path, bytes: &[u8]) {
        let mut file = OpenOptions::new().create(true).append(true).open(path).expect("a file");
        file.write_all(bytes).expect("it is written");
    }

    fn ids(log: &RolloutLog) -> Vec<String> {
        log.rollouts().iter().map(|rollout| rollout.facts.id.to_string()).collect()
    }

    fn refresh(log: &mut RolloutLog) {
        assert!(log.refresh().is_ok());
    }

    #[test]
    fn it_follows_a_log_that_grows_is_cut_and_is_removed() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("log");
        let mut log = RolloutLog::new(path.clone());
        refresh(&mut log);
        assert!(ids(&log).is_empty());
        let second = frame(1, &["c"]);
        append(&path, &frame(0, &["a", "b"]));
        append(&path, &second[..second.len() / 2]);
        refresh(&mut log);
        assert_eq!(ids(&log), ["0-attempt-0-0", "0-attempt-0-1"], "half a frame is not read");
        append(&path, &second[second.len() / 2..]);
        refresh(&mut log);
        let id = |text: &str| text.parse().expect("an id");
        assert_eq!(ids(&log).len(), 3);
        let line = log.read(id("1-attempt-0-0")).expect("the file can be read").expect("it is there");
        assert!(line.contains("\"c\""), "{line}");
        assert!(log.read(id("2-attempt-0-0")).expect("the file can be read").is_none());
        // Resumed from step 0, it goes another way, to the same length.
        std::fs::write(&path, [frame(0, &["a", "b"]), frame(1, &["d"])].concat()).expect("it is written");
        refresh(&mut log);
        let line = log.read(id("1-attempt-0-0")).expect("the file can be read").expect("it is there");
        assert!(line.contains("\"d\""), "{line}");
        std::fs::write(&path, frame(0, &["a"])).expect("it is written");
        refresh(&mut log);
        assert_eq!(ids(&log), ["0-attempt-0-0"]);
        std::fs::remove_file(&path).expect("it is removed");
        refresh(&mut log);
        assert!(ids(&log).is_empty());
    }

    #[test]
    fn a_text_is_found_in_what_was_chosen() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("log");
        append(&path, &[frame(0, &["x", "needle"]), frame(1, &["needle", "needle"])].concat());
        let mut log = RolloutLog::new(path);
        refresh(&mut log);
        let search = |chosen: &[usize]| log.search(chosen.to_vec(), "needle").expect("the file can be read");
        assert_eq!(search(&[3, 2, 1, 0]), [3, 2, 1]);
        assert_eq!(search(&[0, 1]), [1]);
        assert!(search(&[]).is_empty());
        assert_eq!(log.beginnings(&[2, 0]).expect("the file can be read"), ["needle", "x"]);
    }

    #[test]
    fn what_is_no_log_has_no_rollouts() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("log");
        std::fs::write(&path, "no zstd").expect("it is written");
        let mut log = RolloutLog::new(path);
        refresh(&mut log);
        assert!(log.rollouts().is_empty());
    }
}

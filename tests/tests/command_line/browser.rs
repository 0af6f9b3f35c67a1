//! A real browser without a window, driven through the pipe of its DevTools protocol. Nothing sleeps: a page is asked to say when something
//! has become true.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use veriplay_tests::external::report_skipped;

use super::Helper;

/// Chromium reads its third descriptor and writes its fourth; a child gets only its standard ones.
const START: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null"#;

/// After this long a page is not waited for any more: the test has failed.
const PATIENCE_MS: u32 = 120_000;

/// A browser with one page.
pub(super) struct Browser {
    _process: Helper,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    sent: u64,
    session: Option<String>,
    /// What the console of the page says of errors.
    errors: Vec<String>,
    /// The documents that the page has had, by the browser's ids.
    documents: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser that forgets a page when it leaves it; where there is none, that is reported.
    pub(super) fn start() -> Option<Self> {
        let found = Command::new("chromium").arg("--version").output().is_ok_and(|output| output.status.success());
        if !found {
            report_skipped("there is no `chromium`");
            return None;
        }
        let profile = tempfile::tempdir().expect("a temporary directory");
        let mut command = Command::new("sh");
        command.args(["-c", START, "sh", "chromium", "--headless", "--no-sandbox", "--disable-gpu"]);
        command.args(["--disable-dev-shm-usage", "--no-first-run", "--disable-back-forward-cache"]);
        command.arg("--remote-debugging-pipe");
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the browser starts");
        let requests = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let (errors, documents, session) = (Vec::new(), Vec::new(), None);
        let mut browser =
            Self { _process: Helper(child), requests, answers, sent: 0, session, errors, documents, _profile: profile };
        browser.attach();
        Some(browser)
    }

    fn attach(&mut self) {
        let target = self.ask("Target.createTarget", &json!({"url": "about:blank"}))["targetId"].clone();
        let attached = self.ask("Target.attachToTarget", &json!({"targetId": target, "flatten": true}));
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            self.ask(&format!("{domain}.enable"), &json!({}));
        }
    }

    /// Opens an address and waits for its page.
    pub(super) fn open(&mut self, address: &str) {
        let opened = self.ask("Page.navigate", &json!({"url": address}));
        while !self.documents.contains(&opened["loaderId"]) {
            self.receive();
        }
        self.wait_for("true");
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub(super) fn value(&mut self, expression: &str) -> Value {
        self.evaluate(expression).unwrap_or_else(|gone| panic!("`{expression}`: {gone}"))
    }

    /// The text of the element that a selector finds.
    #[track_caller]
    pub(super) fn text(&mut self, selector: &str) -> String {
        let value = self.value(&format!("document.querySelector({})?.textContent", json!(selector)));
        value.as_str().unwrap_or_else(|| panic!("no element is `{selector}`")).to_owned()
    }

    /// Clicks on the element that a selector finds.
    #[track_caller]
    pub(super) fn click(&mut self, selector: &str) {
        let find = format!("const found = document.querySelector({});", json!(selector));
        let clicked = self.value(&format!("(() => {{ {find} found?.click(); return Boolean(found); }})()"));
        assert_eq!(clicked, json!(true), "no element is `{selector}`");
    }

    /// Waits until the expression is true in the page, or in one that takes its place, whose scripts have started: what is done next must
    /// find their listeners.
    #[track_caller]
    pub(super) fn wait_for(&mut self, expression: &str) {
        let promise = format!(
            "new Promise((done, fail) => {{
                const check = () => {{ try {{ if (document.readyState === 'complete' && ({expression})) done(true); }} catch {{ }} }};
                document.addEventListener('readystatechange', check);
                new MutationObserver(check).observe(document, {{subtree: true, childList: true, attributes: true, characterData: true}});
                setTimeout(() => fail(new Error('waited in vain: ' + document.body.innerText.slice(0, 2000))), {PATIENCE_MS});
                check();
            }})"
        );
        // A page that is left takes its promise along.
        while self.evaluate(&promise).is_err() {}
    }

    /// Gives the page another size.
    pub(super) fn resize(&mut self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// Errors of the page's console so far.
    pub(super) fn take_errors(&mut self) -> Vec<String> {
        // Everything that was said before the answer has arrived with it.
        self.ask("Runtime.enable", &json!({}));
        std::mem::take(&mut self.errors)
    }

    /// The value of an expression, once it has one; what the browser says where the page was left before.
    #[track_caller]
    fn evaluate(&mut self, expression: &str) -> Result<Value, String> {
        let asked = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.try_ask("Runtime.evaluate", &asked)?;
        let thrown = &answer["exceptionDetails"];
        assert!(thrown.is_null(), "`{expression}`: {thrown}");
        Ok(answer["result"]["value"].clone())
    }

    #[track_caller]
    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.try_ask(method, parameters).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_ask(&mut self, method: &str, parameters: &Value) -> Result<Value, String> {
        self.sent += 1;
        let mut request = json!({"id": self.sent, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        self.requests.write_all(format!("{request}\0").as_bytes()).expect("the browser reads");
        loop {
            let message = self.receive();
            if message["id"] == json!(self.sent) {
                let error = message.get("error").map(Value::to_string);
                return error.map_or_else(|| Ok(message["result"].clone()), Err);
            }
        }
    }

    /// The next message, an answer or an event.
    fn receive(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.answers.read_until(0, &mut bytes).expect("the browser writes");
        assert!(!bytes.is_empty(), "the browser ended");
        let message: Value = serde_json::from_slice(&bytes[..bytes.len() - 1]).expect("a message is JSON");
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Page.frameNavigated") => self.documents.push(parameters["frame"]["loaderId"].clone()),
            Some("Runtime.exceptionThrown") => self.errors.push(parameters["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") if parameters["type"] != "log" => self.errors.push(parameters.to_string()),
            Some("Log.entryAdded") if parameters["entry"]["level"] == "error" => {
                self.errors.push(parameters.to_string())
            }
            _ => {}
        }
        message
    }
}

//! Tokenizers and chat templates against transformers: the fixtures of `tests/chat`, which `scripts/chat.py` made.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use tempfile::TempDir;
use veriplay_core::{Message, Policy, PolicyError, Prompt, PromptContent, Role, Rollout, SampledTurn, Sampling};
use veriplay_learner::{
    Chat, ChatError, ChatTemplate, Learner, LearnerOptions, ModelConfig, Tokenizer, TokenizerError,
};

use crate::common::{learner, tiny_config};

#[derive(Deserialize)]
struct Text {
    text: String,
    ids: Vec<u32>,
    document: Vec<u32>,
    decoded: String,
}

#[derive(Deserialize)]
struct Rendered {
    chat: String,
    text: Option<String>,
    refused: Option<String>,
    failed: Option<String>,
}

#[derive(Deserialize)]
struct Expected {
    now: i64,
    texts: Vec<Text>,
    special: Vec<u32>,
    chats: Vec<Rendered>,
    /// As they are where no date is given.
    #[serde(default)]
    dateless: Vec<Rendered>,
}

fn fixtures() -> Vec<(String, PathBuf, Expected)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/chat");
    let mut dirs: Vec<PathBuf> = std::fs::read_dir(root).expect("fixtures").flatten().map(|e| e.path()).collect();
    dirs.sort();
    let read = |dir: PathBuf| {
        let text = std::fs::read_to_string(dir.join("expected.json")).expect("reads");
        let name = dir.file_name().expect("a name").to_string_lossy().into_owned();
        (name, dir, serde_json::from_str(&text).expect("parses"))
    };
    dirs.into_iter().map(read).collect()
}

/// A checkpoint with the tokenizer files of `dir`.
fn checkpoint(dir: &Path) -> TempDir {
    let out = tempfile::tempdir().expect("a directory");
    let tokenizer = Tokenizer::load(&dir.join("tokenizer.json")).expect("reads");
    let config = ModelConfig { vocab_size: 340, num_hidden_layers: 1, ..tiny_config() };
    Learner::initialize(config, tokenizer, 1, LearnerOptions::default())
        .expect("valid")
        .save(out.path())
        .expect("saves");
    copy(dir, out.path());
    out
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("makes");
    for entry in std::fs::read_dir(from).expect("lists").flatten() {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).expect("copies")),
        }
    }
}

fn load(dir: &Path) -> Learner {
    Learner::load(dir, LearnerOptions::default()).expect("loads")
}

/// A learner with the tokenizer files of a fixture.
fn named(name: &str, options: LearnerOptions) -> Learner {
    let dir = checkpoint(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chat").join(name));
    Learner::load(dir.path(), options).expect("loads")
}

/// Conversations are plain text.
fn plain() -> LearnerOptions {
    LearnerOptions { chat_template: false, ..LearnerOptions::default() }
}

#[test]
fn texts_have_the_ids_that_transformers_gives_them_and_ids_their_text() {
    for (name, dir, expected) in fixtures() {
        let tokenizer = Tokenizer::load(&dir.join("tokenizer.json")).expect("reads");
        for Text { text, ids, document, decoded } in &expected.texts {
            assert_eq!(tokenizer.encode(text).as_ref(), Ok(ids), "{name}: {text:?}");
            assert_eq!(tokenizer.encode_document(text).as_ref(), Ok(document), "{name}: {text:?}");
            assert_eq!(tokenizer.decode(ids), *decoded, "{name}: {text:?}");
        }
        let special: Vec<u32> = (0..tokenizer.vocab_size() as u32).filter(|&id| tokenizer.is_special(id)).collect();
        assert_eq!(special, expected.special, "{name}");
        let added = tokenizer.token_id("<think>").expect("it was added");
        assert!(!tokenizer.is_special(added) && tokenizer.token(added).as_deref() == Some("<think>"));
    }
    let around = |name: &str| fixtures().iter().any(|(n, _, e)| n == name && e.texts[1].ids != e.texts[1].document);
    assert!(around("thinking") && !around("plain"), "one tokenizer puts a begin token before documents, one does not");
}

#[test]
fn conversations_become_the_prompts_that_transformers_makes_of_them() {
    let (mut rendered, mut refused) = (0, 0);
    for (name, dir, expected) in fixtures() {
        let dir = checkpoint(&dir);
        let learner = load(dir.path());
        for Rendered { chat: json, text, refused: message, failed } in &expected.chats {
            let chat = Chat::parse(json).expect("parses").at(expected.now);
            match learner.chat_template().expect("there").render(&chat) {
                Ok(got) => {
                    assert_eq!(Some(&got), text.as_ref(), "{name}: {json}");
                    let ids = learner.encode_chat(&chat).expect("encodes");
                    assert_eq!(ids, learner.tokenizer().encode(&got).expect("encodes"));
                    rendered += 1;
                }
                Err(ChatError::Refused(got)) => {
                    assert_eq!(Some(&got), message.as_ref(), "{name}: {json}");
                    refused += 1;
                }
                Err(ChatError::Render(_)) => assert!(failed.is_some(), "{name}: {json}"),
                Err(other) => panic!("{name}: {json}: {other}"),
            }
        }
    }
    assert!(rendered >= 40 && refused >= 3, "{rendered} {refused}");
}

#[test]
fn a_template_that_asks_whether_there_is_a_date_writes_its_own_where_none_is_given() {
    let (_, _, expected) = fixtures().into_iter().find(|(name, ..)| name == "dated").expect("a fixture");
    let learner = named("dated", LearnerOptions::default());
    assert!(expected.dateless.len() >= 3);
    for Rendered { chat: json, text, .. } in &expected.dateless {
        let chat = Chat::parse(json).expect("parses");
        let got = learner.chat_template().expect("there").render(&chat).expect("renders");
        assert_eq!(Some(&got), text.as_ref(), "{json}");
    }
    // What a run samples has the date of its options, or none: no clock is asked.
    let asked = vec![Message::user("1 + 1?")];
    let shown = |learner: &Learner| {
        let tokens = prompt_tokens(learner, asked.clone()).expect("samples");
        learner.tokenizer().decode(&tokens)
    };
    assert!(shown(&learner).contains("Today Date: 26 Jul 2024"), "{}", shown(&learner));
    let options = LearnerOptions { chat_date: Some("2025-12-31".to_owned()), ..LearnerOptions::default() };
    let dated = named("dated", options);
    assert!(shown(&dated).contains("Today Date: 31 Dec 2025"), "{}", shown(&dated));
    let own = Chat::from_messages(&asked).at(0);
    let text = dated.chat_template().expect("there").render(&own).expect("renders");
    assert!(text.contains("01 Jan 1970"), "a chat's own date goes first: {text}");
}

#[test]
fn a_date_of_the_options_is_one_of_the_calendar() {
    let check = |date: &str| {
        let options = LearnerOptions { chat_date: Some(date.to_owned()), ..LearnerOptions::default() };
        options.validate()
    };
    for date in ["2024-02-29", "1970-01-01", "1969-12-31", "2000-12-31", "9999-01-01"] {
        assert_eq!(check(date), Ok(()), "{date}");
    }
    for date in
        ["2023-02-29", "2024-2-9", "2024-13-01", "2024-00-10", "24-01-01", "today", "", "2024-01-01-02", "2024-+1-01"]
    {
        let message = check(date).expect_err(date).to_string();
        assert!(message.contains(&format!("`learn.options.chat_date` is `{date}`")), "{message}");
    }
}

fn prompt_tokens(learner: &Learner, messages: Vec<Message>) -> Result<Vec<u32>, PolicyError> {
    Ok(sample(learner, messages)?.prompt_tokens)
}

fn sample(learner: &Learner, messages: Vec<Message>) -> Result<Rollout, PolicyError> {
    let rollouts = learner.generate(&[Prompt::new(Role::SOLVER, messages)], &Sampling::new(1))?;
    Ok(rollouts[0][0].clone())
}

#[test]
fn a_prompt_of_messages_is_rendered_by_the_template_and_the_response_continues_a_message_that_is_begun() {
    let asked = vec![Message::system("Be short."), Message::user("1 + 1?")];
    let begun = [asked.clone(), vec![Message::assistant("<think>")]].concat();
    let mut checked = 0;
    for (name, dir, _) in fixtures() {
        let dir = checkpoint(&dir);
        let learner = load(dir.path());
        let Ok(rendered) = learner.chat_template().and_then(|template| template.render(&Chat::from_messages(&asked)))
        else {
            let error = prompt_tokens(&learner, asked.clone()).expect_err("refused").to_string();
            assert!(error.contains("chat template"), "{name}: {error}");
            continue;
        };
        let encode = |text: &str| learner.tokenizer().encode(text).expect("encodes");
        assert_eq!(prompt_tokens(&learner, asked.clone()).expect("samples"), encode(&rendered), "{name}");
        let rendered = rendered + "<think>";
        let rollout = sample(&learner, begun.clone()).expect("samples");
        assert_eq!((rollout.prompt_tokens, rollout.rendered_prompt), (encode(&rendered), Some(rendered)), "{name}");
        checked += 1;
    }
    assert!(checked >= 3, "{checked}");
}

#[test]
fn without_a_template_messages_are_plain_text_that_ends_before_the_next_user() {
    let learner = named("dated", plain());
    let messages =
        vec![Message::system("Be short."), Message::user("1?"), Message::assistant("2"), Message::user("3?")];
    let text = "Be short.\nUser: 1?\nAssistant: 2\nUser: 3?\nAssistant:";
    assert_eq!(Prompt::new(Role::SOLVER, messages.clone()).text(), text);
    let want = learner.tokenizer().encode_document(text).expect("encodes");
    assert_eq!(prompt_tokens(&learner, messages.clone()).expect("samples"), want);
    let begun = [messages, vec![Message::assistant("<think>")]].concat();
    let want = learner.tokenizer().encode_document(&format!("{text} <think>")).expect("encodes");
    let rollout = sample(&learner, begun).expect("samples");
    assert_eq!((rollout.prompt_tokens, rollout.rendered_prompt), (want, None));
    let templated = named("dated", LearnerOptions::default());
    let error = prompt_tokens(&templated, vec![Message::assistant("4")]).expect_err("nothing asked").to_string();
    assert!(error.contains("no message to answer"), "{error}");
}

#[test]
fn a_prompt_in_text_has_the_begin_token_of_documents_once() {
    for (name, is_begun) in [("thinking", true), ("plain", false)] {
        let learner = named(name, LearnerOptions::default());
        let tokens = |text: &str| learner.encode_prompt(&Prompt::new(Role::SOLVER, text)).expect("encodes");
        let own = learner.tokenizer().encode("def f(x):").expect("encodes");
        let begin = learner.tokenizer().token_id("<|begin|>").expect("it is special");
        let with_begin = [&[begin][..], &own].concat();
        assert_eq!(tokens("def f(x):"), if is_begun { with_begin.clone() } else { own }, "{name}");
        assert_eq!(tokens("<|begin|>def f(x):"), with_begin, "{name}");
        let rollouts = learner.generate(&[Prompt::new(Role::SOLVER, "def f(x):")], &Sampling::new(1)).expect("samples");
        assert_eq!(rollouts[0][0].prompt_tokens, tokens("def f(x):"), "{name}");
    }
}

#[test]
fn later_turns_of_plain_text_get_no_second_begin_token() {
    let learner = named("thinking", plain());
    let asked = vec![Message::user("1 + 1?")];
    let (prompt, read) = next_prompt(&learner, &asked, &[" 2\nUser:"], false);
    let messages = [asked, vec![Message::assistant("2"), Message::user("3?")]].concat();
    let later = learner.encode_prompt(&Prompt { content: messages.into(), ..prompt }).expect("encodes");
    let begin = learner.tokenizer().token_id("<|begin|>").expect("it is special");
    assert!(later.starts_with(&read), "{later:?}");
    let places: Vec<usize> = (0..later.len()).filter(|&place| later[place] == begin).collect();
    assert_eq!(places, [0], "{later:?}");
}

/// The prompt behind a response, whose tokens are those of these texts one by one and, where it ended, an end token.
fn next_prompt(learner: &Learner, asked: &[Message], response: &[&str], ended: bool) -> (Prompt, Vec<u32>) {
    let encode = |text: &str| learner.tokenizer().encode(text).expect("encodes");
    let first = learner.encode_prompt(&Prompt::new(Role::SOLVER, asked.to_vec())).expect("encodes");
    let read: Vec<u32> = response.iter().flat_map(|text| encode(text)).collect();
    let end = ended.then_some(learner.end_tokens()[0]);
    let turn = SampledTurn { prompt: first.clone(), response: read.iter().copied().chain(end).collect() };
    let text = response.concat().split("##").next().expect("a part").trim().to_owned();
    let messages = [asked.to_vec(), vec![Message::assistant(text), Message::user("3?")]].concat();
    let prompt = Prompt { earlier: Some(Arc::new(turn)), ..Prompt::new(Role::SOLVER, messages).with_stop(["##"]) };
    (prompt, [first, read].concat())
}

#[test]
fn a_later_prompt_begins_with_the_tokens_of_the_turn_before_as_they_were_sampled() {
    let asked = vec![Message::system("Be short."), Message::user("1 + 1?")];
    let mut checked = 0;
    for (name, dir, _) in fixtures() {
        let dir = checkpoint(&dir);
        let learner = load(dir.path());
        let render = |messages: &[Message]| {
            learner.chat_template().and_then(|template| template.render(&Chat::from_messages(messages)))
        };
        let Ok(before) = render(&asked) else { continue };
        for (response, ended) in [(vec![" de", "f "], true), (vec!["de", "f"], false), (vec!["def", "#", "#"], false)] {
            let (prompt, read) = next_prompt(&learner, &asked, &response, ended);
            let PromptContent::Messages(messages) = &prompt.content else { panic!("messages") };
            let whole = render(messages).expect("renders");
            let added = whole.strip_prefix(&format!("{before}def")).expect("the template appends");
            let want = [read, learner.tokenizer().encode(added).expect("encodes")].concat();
            assert_eq!(learner.encode_prompt(&prompt).expect("encodes"), want, "{name}: {response:?}");
        }
        checked += 1;
    }
    assert!(checked >= 3, "{checked}");
    let learner = named("dated", plain());
    for (response, text) in [(" 2\nUser:", "2"), ("\nUser:", "")] {
        let (prompt, read) = next_prompt(&learner, &asked, &[response], false);
        let messages = [asked.clone(), vec![Message::assistant(text), Message::user("3?")]].concat();
        let prompt = Prompt { content: messages.into(), ..prompt };
        let want = [read, learner.tokenizer().encode(" 3?\nAssistant:").expect("encodes")].concat();
        assert_eq!(learner.encode_prompt(&prompt).expect("encodes"), want);
    }
}

#[test]
fn a_prompt_that_does_not_continue_the_turn_before_is_read_anew() {
    let asked = vec![Message::user("1 + 1?")];
    let learner = named("thinking", LearnerOptions::default());
    let read_anew = |prompt: Prompt| {
        let anew = learner.encode_prompt(&Prompt { earlier: None, ..prompt.clone() }).expect("encodes");
        learner.encode_prompt(&prompt).expect("encodes") == anew
    };
    // The template leaves out what was thought in earlier turns.
    let (prompt, read) = next_prompt(&learner, &asked, &["<think>", "1, 2", "</think>", "2"], true);
    assert!(!learner.encode_prompt(&prompt).expect("encodes").starts_with(&read) && read_anew(prompt));
    let (prompt, _) = next_prompt(&learner, &asked, &["de", "f"], true);
    let other = [asked, vec![Message::assistant("another"), Message::user("3?")]].concat();
    assert!(read_anew(Prompt { content: other.into(), ..prompt.clone() }), "the response is another one");
    assert!(read_anew(Prompt { content: "def".into(), ..prompt }), "a text has no turns");
}

#[test]
fn tokenizer_files_and_templates_are_saved_as_they_were_read() {
    for (name, dir, expected) in fixtures() {
        let (dir, again) = (checkpoint(&dir), tempfile::tempdir().expect("a directory"));
        load(dir.path()).save(again.path()).expect("saves");
        for file in [
            "tokenizer_config.json",
            "special_tokens_map.json",
            "chat_template.jinja",
            "additional_chat_templates/tool_use.jinja",
        ] {
            let read = |dir: &TempDir| std::fs::read(dir.path().join(file)).ok();
            assert_eq!(read(&dir), read(&again), "{name}: {file}");
        }
        let tokenizer = Tokenizer::load(&again.path().join("tokenizer.json")).expect("reads");
        for Text { text, ids, .. } in &expected.texts {
            assert_eq!(tokenizer.encode(text).as_ref(), Ok(ids), "{name}: {text:?}");
        }
    }
}

#[test]
fn a_checkpoint_without_a_template_or_with_a_broken_one_is_an_error() {
    match learner(tiny_config()).chat_template().expect("no error yet").render(&Chat::user("hi")) {
        Err(error @ ChatError::Absent(_)) => assert!(error.to_string().contains("chat_template.jinja"), "{error}"),
        other => panic!("{other:?}"),
    }
    let dir = checkpoint(&fixtures()[0].1);
    let config = |text: &str| {
        std::fs::remove_file(dir.path().join("chat_template.jinja")).ok();
        std::fs::write(dir.path().join("tokenizer_config.json"), text).expect("writes");
        load(dir.path()).chat_template().and_then(|t| t.render(&Chat::user("hi"))).expect_err("broken").to_string()
    };
    for (text, words) in [
        (r#"{"chat_template": 7}"#, "tokenizer_config.json`: `chat_template` is `7`"),
        (r#"{"chat_template": [{"name": "x"}]}"#, "`chat_template` is"),
        (r#"{"chat_template": [{"name": "rag", "template": ""}]}"#, "no chat template `default`, only [\"rag\"]"),
        (r#"{"chat_template": "{% if %}"}"#, "cannot be compiled"),
        ("{", "tokenizer_config.json` cannot be read"),
    ] {
        let message = config(text);
        assert!(message.contains(words), "{text}: {message}");
    }
}

#[test]
fn a_template_that_fails_runs_forever_or_wants_a_date_that_is_not_there_is_an_error() {
    let render = |text: &str, chat: &Chat| ChatTemplate::from_text(text).render(chat);
    let chat = Chat::user("hi");
    for (text, words) in [
        ("{{ messages.nothing.more }}", "undefined"),
        ("{{ messages | tojson(depth=3) }}", "depth"),
        ("{{ strftime_then('%d') }}", "unknown function: strftime_then"),
        ("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}", "fuel"),
        ("{% include 'config.json' %}", "config.json"),
    ] {
        match render(text, &chat) {
            Err(ChatError::Render(message)) => assert!(message.contains(words), "{text}: {message}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    assert!(matches!(render("{{ raise_exception('no') }}", &chat), Err(ChatError::Refused(m)) if m == "no"));
    let dateless = render("{{ strftime_now('%d') }}", &chat).expect_err("no date");
    assert!(matches!(dateless, ChatError::Dateless) && dateless.to_string().contains("chat_date"), "{dateless}");
    assert_eq!(render("{{ strftime_now is defined }}", &chat).expect("renders"), "False");
    assert_eq!(render("{{ strftime_now is defined }}", &chat.clone().at(0)).expect("renders"), "True");
    // No directive, one that Python writes otherwise than chrono, and none behind the sign.
    for directive in ["%Q", "%f", "%"] {
        match render(&format!("{{{{ strftime_now('%d{directive}') }}}}"), &chat.clone().at(0)) {
            Err(ChatError::Render(message)) => assert!(message.contains(&format!("`{directive}`")), "{message}"),
            other => panic!("{other:?}"),
        }
    }
    let beyond = render("{{ strftime_now('%d') }}", &chat.clone().at(i64::MAX)).expect_err("no such year").to_string();
    assert!(beyond.contains("seconds since 1970"), "{beyond}");
    assert_eq!(render("{{ messages[0].content }}<b>&", &Chat::user("<i>\"")).expect("renders"), "<i>\"<b>&");
}

#[test]
fn dates_are_those_of_the_calendar() {
    let date = |seconds: i64| {
        let template = ChatTemplate::from_text("{{ strftime_now('%A %d %B %Y %j %H:%M:%S %I%p %a %b %y %F %T %%') }}");
        template.render(&Chat::user("x").at(seconds)).expect("renders")
    };
    // Made with Python's `datetime.fromtimestamp(s, timezone.utc).strftime`.
    for (seconds, want) in [
        (0, "Thursday 01 January 1970 001 00:00:00 12AM Thu Jan 70 1970-01-01 00:00:00 %"),
        (951_827_696, "Tuesday 29 February 2000 060 12:34:56 12PM Tue Feb 00 2000-02-29 12:34:56 %"),
        (1_735_689_599, "Tuesday 31 December 2024 366 23:59:59 11PM Tue Dec 24 2024-12-31 23:59:59 %"),
        (4_107_542_400, "Monday 01 March 2100 060 00:00:00 12AM Mon Mar 00 2100-03-01 00:00:00 %"),
        (-1, "Wednesday 31 December 1969 365 23:59:59 11PM Wed Dec 69 1969-12-31 23:59:59 %"),
    ] {
        assert_eq!(date(seconds), want);
    }
}

#[test]
fn what_is_no_conversation_is_refused_with_the_message_that_is_wrong() {
    for (text, words) in [
        ("", "EOF"),
        ("7", "number"),
        ("[]", "no message"),
        ("{}", "`messages`"),
        (r#"{"messages": {}}"#, "`messages`"),
        (r#"[{"role": "user", "content": ""}, {"content": "x"}]"#, "message 1"),
        (r#"[{"role": 3}]"#, "message 0"),
    ] {
        let message = Chat::parse(text).expect_err("refused").to_string();
        assert!(message.contains(words), "{text}: {message}");
    }
    assert!(Chat::parse(r#"[{"role": "user", "content": "x"}]"#).is_ok());
}

#[test]
fn without_a_tokenizer_text_is_an_error_with_a_hint() {
    let none = Tokenizer::missing();
    assert!(!none.is_present() && none.vocab_size() == 0 && none.token(0).is_none() && none.token_id("a").is_none());
    assert_eq!(none.encode("x"), Err(TokenizerError::Absent));
    assert_eq!(none.to_json(), Err(TokenizerError::Absent));
    assert_eq!(none.decode(&[1, 2]), "");
    assert!(TokenizerError::Absent.to_string().contains("token ids"));
}

//! The log as text: warnings and errors have the form of the messages for people, and the rest has its time and its origin.

use std::fmt;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{Format, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// Fields that say why: they are behind a colon, without their name.
const CAUSES: [&str; 5] = ["error", "fault", "reason", "why", "unsaved"];

/// Writes events as text.
#[derive(Debug, Default)]
pub struct TextLog {
    /// The form of what is only logged on demand.
    detailed: Format,
}

impl<S, N> FormatEvent<S, N> for TextLog
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let word = match *event.metadata().level() {
            Level::ERROR => "error",
            Level::WARN => "warning",
            _ => return self.detailed.format_event(context, writer, event),
        };
        let mut text = EventText::default();
        event.record(&mut text);
        for span in context.event_scope().into_iter().flatten() {
            if let Some(fields) = span.extensions().get::<FormattedFields<N>>() {
                text.details.push(format!("{} {fields}", span.name()));
            }
        }
        let EventText { message, details, cause, hint } = text;
        let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
        writeln!(writer, "{word}: {message}{details}{cause}{hint}")
    }
}

#[derive(Default)]
struct EventText {
    message: String,
    details: Vec<String>,
    /// Behind a colon.
    cause: String,
    /// On a line of its own.
    hint: String,
}

impl EventText {
    fn add(&mut self, field: &Field, value: &str) {
        let value = escape_controls(value);
        match field.name() {
            "message" => self.message = value,
            "hint" => self.hint = format!("\nhint: {value}"),
            name if CAUSES.contains(&name) => self.cause = format!(": {value}"),
            name => self.details.push(format!("{name} {value}")),
        }
    }
}

impl Visit for EventText {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, &format!("{value:?}"));
    }
}

/// A value may be of a server or a file that is not ours, and a terminal obeys control characters.
fn escape_controls(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for letter in value.chars() {
        if letter.is_control() && letter != '\n' { text.extend(letter.escape_default()) } else { text.push(letter) }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs::{OpenOptions, read_to_string};

    use super::TextLog;

    #[test]
    fn warnings_and_errors_have_the_form_of_messages_and_the_rest_its_time_and_its_origin() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let path = file.path().to_owned();
        let open = move || OpenOptions::new().append(true).open(&path).expect("it is there");
        let events = tracing_subscriber::fmt().with_ansi(false).with_writer(open).event_format(TextLog::default());
        tracing::subscriber::with_default(events.finish(), || {
            let (path, fault) = ("images/python", "it is changed\u{1b}[2J");
            tracing::warn!("nothing works");
            tracing::warn!(path, %fault, hint = "make it again", "an image is damaged");
            tracing::error!(attempt = 3, retried = true, "lost\u{1b}[2J");
            tracing::info_span!("request", id = "r1").in_scope(|| tracing::warn!("a job has no outcome"));
            tracing::info!(tasks = 8, "tasks read");
        });
        let text = read_to_string(file.path()).expect("it is text");
        let expected = "warning: nothing works\n\
            warning: an image is damaged (path images/python): it is changed\\u{1b}[2J\nhint: make it again\n\
            error: lost\\u{1b}[2J (attempt 3, retried true)\n\
            warning: a job has no outcome (request id=\"r1\")\n";
        let rest = text.strip_prefix(expected).unwrap_or_else(|| panic!("{text}"));
        assert!(rest.contains("INFO") && rest.ends_with("text_log::tests: tasks read tasks=8\n"), "{text}");
    }
}

//! The command reference: every command, option and exit code as one Markdown page, from the definitions that parse the command line.
//! `docs/command-reference.md` is this page, and a test holds it to them.

use clap::builder::StyledStr;
use clap::{Arg, Command};

use veriplay_console::exit::ExitCode;

const HEAD: &str = "# Command reference

<!-- `veriplay man --markdown` makes this page: do not edit it. -->

Every command with its options, their defaults and possible values, as `--help` describes them. [Commands](commands.md) shows how to use
them.

| command | what it does |
|---|---|
";

/// Codes that no failure of a command has: success, what the parser of the command line exits with, and what a shell shows of a process that a
/// signal ended.
const OTHER_CODES: [(u8, &str); 2] = [
    (0, "success"),
    (
        143,
        "ended by SIGTERM: a command that saves nothing, such as `run`, or `serve` by its second signal. At the first, `serve` drains and exits with 0",
    ),
];

/// The page of `command` and of all below it.
pub(crate) fn markdown(mut command: Command) -> String {
    // Passes global options on, and names each command by its whole path.
    command.build();
    let mut page = HEAD.to_owned();
    for command in command.get_subcommands().filter(|command| is_ours(command)) {
        let (name, path) = (command.get_name(), path(command));
        page += &format!("| [`{name}`](#{}) | {} |\n", path.replace(' ', "-"), prose(command.get_about()));
    }
    page += "\n## Options of every command\n\n";
    page.extend(command.get_arguments().map(item));
    for command in command.get_subcommands_mut().filter(|command| is_ours(command)) {
        add_section(&mut page, command, "##");
    }
    page + "\n## Exit codes\n\n| code | meaning |\n|---|---|\n" + &exit_codes()
}

/// Whether a command is one of ours: the parser adds `help` to each that has others below it.
fn is_ours(command: &Command) -> bool {
    command.get_name() != "help" && !command.is_hide_set()
}

/// The command with those above it, as in `veriplay config diff`.
fn path(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

/// Adds what `--help` says of a command, and of those below it.
fn add_section(page: &mut String, command: &mut Command, level: &str) {
    let usage = command.render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let about = prose(command.get_long_about().or(command.get_about()));
    *page += &format!("\n{level} `{}`\n\n{about}\n\n```text\n{usage}\n```\n", path(command));
    for heading in headings(command) {
        *page += &heading.map_or_else(|| "\n".to_owned(), |heading| format!("\n**{heading}**\n\n"));
        page.extend(own_arguments(command).filter(|argument| argument.get_help_heading() == heading).map(item));
    }
    for below in command.get_subcommands_mut().filter(|command| is_ours(command)) {
        add_section(page, below, "###");
    }
}

/// The arguments of a command by itself: those before its options first.
fn own_arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    let is_own = |argument: &&Arg| {
        let is_added = ["help", "version"].contains(&argument.get_id().as_str());
        !is_added && !argument.is_global_set() && !argument.is_hide_set()
    };
    let options = command.get_arguments().filter(|argument| !argument.is_positional());
    command.get_positionals().chain(options).filter(is_own)
}

/// The headings of its arguments, in their order.
fn headings(command: &Command) -> Vec<Option<&str>> {
    let mut found = Vec::new();
    for argument in own_arguments(command) {
        let heading = argument.get_help_heading();
        if !found.contains(&heading) {
            found.push(heading);
        }
    }
    found
}

/// An argument as an item of a list: its names, what it is for, its default and its values.
fn item(argument: &Arg) -> String {
    let short = argument.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
    let mut about = vec![prose(argument.get_long_help().or(argument.get_help()))];
    if argument.is_required_set() {
        about.push("Required".to_owned());
    }
    let (values, are_described) = values(argument);
    if !values.is_empty() && !are_described {
        about.push(format!("One of {}", values.join(", ")));
    }
    about.extend(default(argument).map(|default| format!("Default: `{default}`")));
    let mut item = format!("- {short}`{argument}`: {}\n", about.join(". "));
    if are_described {
        item.extend(values.iter().map(|value| format!("  - {value}\n")));
    }
    item
}

/// The values that an argument may have, and whether any says what it means.
fn values(argument: &Arg) -> (Vec<String>, bool) {
    let values = argument.get_possible_values();
    let shown = || values.iter().filter(|value| !value.is_hide_set() && !argument.is_hide_possible_values_set());
    let text = |name: &str, help: Option<&StyledStr>| match help {
        Some(help) => format!("`{name}`: {}", prose(Some(help))),
        None => format!("`{name}`"),
    };
    let texts = shown().map(|value| text(value.get_name(), value.get_help())).collect();
    (texts, shown().any(|value| value.get_help().is_some()))
}

/// What an argument is where it is left out. A switch has none that anybody would write.
fn default(argument: &Arg) -> Option<String> {
    let takes_values = argument.get_num_args().is_some_and(|count| count.takes_values());
    let values =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(" ");
    (takes_values && !argument.is_hide_default_value_set() && !values.is_empty()).then_some(values)
}

/// Paragraphs as one line. Those of `--help` may end without a full stop, which a sentence behind them needs.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        if !line.is_empty() {
            line += if line.ends_with(['.', ':', ';', '!', '?']) { " " } else { ". " };
        }
        line += &paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    line
}

/// A text of `--help` as one line of Markdown. Outside of code nothing in it is a tag.
fn prose(text: Option<&StyledStr>) -> String {
    let line = one_line(&text.map(StyledStr::to_string).unwrap_or_default());
    let parts = line.split('`').enumerate();
    let parts = parts.map(|(at, part)| if at % 2 == 0 { part.replace('<', "&lt;") } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

fn exit_codes() -> String {
    let mut codes: Vec<(u8, &str)> = OTHER_CODES.iter().chain(ExitCode::MEANINGS).copied().collect();
    codes.sort_unstable();
    codes.into_iter().map(|(code, meaning)| format!("| {code} | {meaning} |\n")).collect()
}

#[cfg(test)]
mod tests {
    use clap::builder::PossibleValue;
    use clap::{Arg, ArgAction, Command};

    use super::{markdown, one_line};

    #[test]
    fn paragraphs_are_sentences_of_a_line() {
        assert_eq!(one_line("One\n  line\n\nNames: a\n\nThe end"), "One line. Names: a. The end");
        assert_eq!(one_line("Names:\n\na.\n\nb"), "Names: a. b");
    }

    fn page() -> String {
        let walls = [PossibleValue::new("thread").help("In a thread"), PossibleValue::new("process")];
        let go = Command::new("go")
            .about("Go there")
            .arg(Arg::new("place").value_name("PLACE").required(true).help("Where <to>, as in `<here>`"))
            .arg(Arg::new("wall").long("wall").value_parser(walls).default_value("thread").help("How"))
            .arg(Arg::new("secret").long("secret").hide(true))
            .arg(Arg::new("fast").short('f').long("fast").action(ArgAction::SetTrue).help_heading("Speed").help("Fast"))
            .subcommand(Command::new("back").about("Return"));
        let quiet = Arg::new("quiet").long("quiet").action(ArgAction::SetTrue).global(true).help("Say nothing");
        markdown(Command::new("walk").arg(quiet).subcommand(go))
    }

    #[test]
    fn a_command_has_its_usage_options_defaults_and_values() {
        let page = page();
        for text in [
            "| [`go`](#walk-go) | Go there |",
            "\n## `walk go`\n\nGo there\n\n```text\nwalk go [OPTIONS] <PLACE>",
            "- `<PLACE>`: Where &lt;to>, as in `<here>`. Required\n",
            "`: How. Default: `thread`\n  - `thread`: In a thread\n  - `process`\n",
            "\n**Speed**\n\n- `-f`, `--fast`: Fast\n",
            "\n### `walk go back`\n\nReturn\n",
            "\n| 0 | success |\n| 1 | ",
        ] {
            assert!(page.contains(text), "`{text}` is not in\n{page}");
        }
    }

    #[test]
    fn what_every_command_has_is_described_once_and_what_is_hidden_never() {
        let page = page();
        assert_eq!(page.matches("Say nothing").count(), 1, "{page}");
        assert!(!page.contains("secret") && !page.contains("walk help"), "{page}");
    }
}

//! What `game.language` asks of the other tables.

use veriplay_console::exit::{Failure, bad_value};
use veriplay_run::executor::GameExecutor;
use veriplay_verifier::languages::is_python;

use super::SolVerSetup;
use super::snippets::SnippetSource;
use super::tasks::ProblemSource;

impl SolVerSetup {
    /// Refuses values of the other tables that are not of the language of the programs.
    pub(super) fn check_language(&self) -> Result<(), Failure> {
        let language = self.game.own.language();
        GameExecutor::check_language("agreement.image", &self.agreement.image, language)?;
        let of_streams = matches!(self.tasks.problems, ProblemSource::Programs { .. });
        if is_python(language) {
            let want = "`generator` or `file`, or set `game.language` to `cpp`, whose programs read and write streams";
            return if of_streams { Err(bad_value("tasks.problems.from", &"programs", want)) } else { Ok(()) };
        }
        if !of_streams {
            let want = "`programs` with `game.language = \"cpp\"`: the others call functions of Python";
            return Err(bad_value("tasks.problems.from", &self.tasks.problems.name(), want));
        }
        if !matches!(self.tasks.snippets, SnippetSource::Folder { .. }) {
            let want = "`folder` with `game.language = \"cpp\"`: the others give functions of Python";
            return Err(bad_value("tasks.snippets.from", &self.tasks.snippets.name(), want));
        }
        match self.eval.suites.is_empty() {
            true => Ok(()),
            false => Err(bad_value(
                "eval.suites",
                &"not empty",
                "left out: these sets are in Python, and the run has no image of it",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use veriplay_run::builtin_configs;
    use veriplay_run::game_setup::GameSetup;
    use veriplay_run::play_config::PlayConfig;

    use super::*;

    /// What set-up says of a run in C++, after the configuration of the paper, and a change.
    fn told(change: fn(&mut SolVerSetup)) -> String {
        let name = "sol-ver-qwen";
        let text = builtin_configs::find(name).expect("it is built in").text;
        let mut config = PlayConfig::<SolVerSetup>::parse(text, name.as_ref()).expect("it is valid");
        let SolVerSetup { game, agreement, tasks, .. } = &mut config.setup;
        "cpp".clone_into(&mut game.own.language);
        (agreement.image, agreement.probes, agreement.max_mutants) = ("cpp".to_owned(), 0, 0);
        tasks.snippets = SnippetSource::Folder { path: PathBuf::from("solutions"), min_chars: 80, max_chars: 4_000 };
        tasks.problems = ProblemSource::Programs { path: PathBuf::from("problems.jsonl"), hidden: 8 };
        change(&mut config.setup);
        let checked =
            config.setup.validate(&config.run.learn).and_then(|()| config.setup.check_model(&config.run.model));
        checked.err().map_or_else(String::new, |failure| failure.to_string())
    }

    fn to_python(setup: &mut SolVerSetup) {
        (setup.game.own.language, setup.agreement.image) = ("python".to_owned(), "python".to_owned());
    }

    #[test]
    fn what_has_no_meaning_in_cpp_is_refused_with_its_key() {
        assert_eq!(told(|_| {}), "");
        for (told, want) in [
            (told(|setup| setup.agreement.image = "python".to_owned()), "`agreement.image` is `python`"),
            (told(|setup| setup.game.own.language = "python".to_owned()), "`agreement.image` is `cpp`"),
            (told(|setup| setup.game.own.language = "javascript".to_owned()), "`game.language` is `javascript`"),
            (told(|setup| setup.agreement.probes = 6), "`probes` is `6`"),
            (
                told(|setup| {
                    setup.tasks.snippets = SnippetSource::Generator { mix: "warmup".to_owned(), count: 1, seed: 1 };
                }),
                "`tasks.snippets.from` is `generator`",
            ),
            (
                told(|setup| {
                    let (path, format) = (PathBuf::from("MbppPlus.jsonl"), "mbpp_plus".to_owned());
                    setup.tasks.problems = ProblemSource::File { path, format, hidden: 8 };
                }),
                "`tasks.problems.from` is `file`",
            ),
            (told(to_python), "`tasks.problems.from` is `programs`"),
        ] {
            assert!(told.contains(want), "{told}");
        }
    }
}

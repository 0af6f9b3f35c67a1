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

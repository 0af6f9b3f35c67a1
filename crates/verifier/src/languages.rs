//! The languages that programs may be written in, for the doors: Python, which the host reads, and those that it only scans.

use veriplay_core::{Language, Literals, SCANNED, Task};
use veriplay_python::Python;

/// All languages. Which of them are judged is a matter of the images that are open.
pub fn languages() -> impl Iterator<Item = &'static dyn Language> {
    let scanned = SCANNED.into_iter().map(|language| language as &dyn Language);
    std::iter::once(&Python as &dyn Language).chain(scanned)
}

/// The language of that name, as requests spell it.
pub fn language_named(name: &str) -> Option<&'static dyn Language> {
    languages().find(|language| language.names().contains(&name))
}

/// The image of a language that is only scanned, by its own name.
pub(crate) fn image_of(named: &str) -> Option<&'static str> {
    SCANNED.iter().find(|language| language.names()[0] == named).map(|language| language.image())
}

/// The image of a task's own program in the language of this name, or in Python, where that is another one than this, in which attempts run.
pub(crate) fn image_beside(named: Option<&str>, image: &str) -> Option<&'static str> {
    let needed = match named {
        Some(named) => image_of(named)?,
        None if SCANNED.iter().any(|language| language.image() == image) => Python.image(),
        // Attempts in Python have images of the user's, too, and what is in Python runs in theirs.
        None => return None,
    };
    (needed != image).then_some(needed)
}

/// Whether the language of this name, which is its own, is compiled.
pub(crate) fn is_compiled(named: &str) -> bool {
    image_of(named).is_some_and(|image| language_in_image(image).is_compiled())
}

/// Whether the host reads programs in the language, and does not only scan them.
#[must_use]
pub fn is_python(language: &dyn Language) -> bool {
    language.names() == Python.names()
}

/// The language of the programs that run in an image of this name: Python in one of your own.
#[must_use]
pub fn language_in_image(image: &str) -> &'static dyn Language {
    languages().find(|language| language.image() == image).unwrap_or(&Python)
}

/// The language of a task's program.
#[must_use]
pub fn language_of(task: &Task) -> &'static dyn Language {
    task.language.as_deref().and_then(language_named).unwrap_or(&Python)
}

/// What [`Task::language`] is for a language.
#[must_use]
pub fn task_language(language: &dyn Language) -> Option<String> {
    (!is_python(language)).then(|| language.names()[0].to_owned())
}

/// How a language writes values: as Python, where it has no way of its own.
#[must_use]
pub fn literals_of(language: &dyn Language) -> &'static dyn Literals {
    language.literals().unwrap_or(&Python)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_found_by_each_of_their_names() {
        for (name, own) in [("python", "python"), ("nodejs", "javascript"), ("ts", "typescript"), ("c", "c")] {
            assert_eq!(language_named(name).map(|language| language.names()[0]), Some(own));
        }
        assert!(language_named("C++").is_none() && language_named("cobol").is_none());
        assert_eq!(languages().filter(|language| is_python(*language)).count(), 1);
    }

    #[test]
    fn an_image_has_programs_of_one_language() {
        for (image, own, of_task) in [
            ("python", "python", None),
            ("python-numpy", "python", None),
            ("mine", "python", None),
            ("javascript", "javascript", Some("javascript")),
        ] {
            let language = language_in_image(image);
            assert_eq!((language.names()[0], task_language(language).as_deref()), (own, of_task), "{image}");
        }
    }
}

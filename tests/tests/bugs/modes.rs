//! What keeping to a mode of injection means: which trees write a body anew, and which undo a past change.

use veriplay_core::{Evidence, Execute, ExecuteError, Exit, Job, LimitKind, Outcome, TextFiles};
use veriplay_verifier::bugs::tool_env::{FunctionSource, list_functions};
use veriplay_verifier::bugs::{Commit, PastChange, RepoContext, has_less_code};

use super::{Bed, bed, replaced};

const PATH: &str = "src/tally/sample.py";

/// The original of these tests: the repository with one more module.
fn with_sample(bed: &Bed, text: &str) -> TextFiles {
    let mut texts = bed.texts.clone();
    texts.insert(PATH.to_owned(), text.to_owned());
    texts
}

const CLASSES: &str = "\
class Base:
    def total(self, x):
        raise NotImplementedError


class Sums(Base):
    @property
    def size(self):
        return 1

    @size.setter
    def size(self, value):
        self.x = value

    def total(self, x):
        return sum(x)


def total(numbers):
    \"\"\"Adds.\"\"\"
    result = 0
    return result
";
const BODY: &str = "    result = 0\n    return result\n";
const METHOD: &str = "        return sum(x)\n";
const EMPTY: &str = "    raise NotImplementedError\n";

fn function(bed: &Bed, texts: &TextFiles, name: &str) -> FunctionSource {
    let found = list_functions(&bed.sandbox, &bed.repo(), texts, &[PATH]).unwrap().remove(0);
    found.into_iter().find(|function| function.name == name).unwrap_or_else(|| panic!("there is no `{name}`"))
}

/// Whether the function `name` is written anew where the text of the module is `text`.
fn is_rewritten(bed: &Bed, name: &str, text: &str) -> bool {
    let texts = with_sample(bed, CLASSES);
    let repo = RepoContext { texts: &texts, ..bed.repo() };
    let (now, mut cost) = (with_sample(bed, text), Evidence::default());
    let is_rewritten = function(bed, &texts, name).is_rewritten(&bed.sandbox, &repo, &now, &mut cost).unwrap();
    assert!(cost.jobs.len() == 1 && cost.fuel > 0 && !cost.met_deadline, "{cost:?}");
    is_rewritten
}

#[test]
fn a_body_of_its_own_is_written_anew_whatever_it_does() {
    let Some(bed) = bed() else { return };
    for body in [
        "    return None\n",
        "    if not numbers:\n        raise ValueError\n    return sum(numbers)\n",
        "    total = helper(numbers)\n    return total\n\n\ndef helper(numbers):\n    return numbers[0]\n",
    ] {
        assert!(is_rewritten(bed, "total", &CLASSES.replace(BODY, body)), "{body}");
    }
    // The same error elsewhere in the original is no reason against it.
    assert!(is_rewritten(bed, "Sums.total", &CLASSES.replace(METHOD, "        return max(x)\n")));
    assert!(is_rewritten(bed, "Sums.size", &CLASSES.replace("return 1\n", "return 2\n")));
}

#[test]
fn a_body_that_still_is_what_it_was_emptied_to_is_not_written() {
    let Some(bed) = bed() else { return };
    for body in [
        EMPTY,
        "    raise NotImplementedError()\n",
        "    raise  (NotImplementedError)\n",
        "    raise NotImplementedError(\"later\") from None\n",
        "    result = 0; raise NotImplementedError\n",
        "    if True: raise NotImplementedError\n    return 1\n",
        "    def inner(): raise NotImplementedError\n    return inner()\n",
        "    error = NotImplementedError\n    raise error\n",
        "    import builtins\n    raise builtins.NotImplementedError\n",
        "    from builtins import NotImplementedError as error\n    raise error\n",
        "    return (one for one in ()).throw(NotImplementedError)\n",
        "    return stub()\n\n\ndef stub():\n    raise NotImplementedError\n",
        "    return stub()\n\n\nstub = NotImplementedError\n",
        "    pass\n",
        "    ...\n",
        "    raise ValueError\n",
        "    return (\n",
    ] {
        assert!(!is_rewritten(bed, "total", &CLASSES.replace(BODY, body)), "{body}");
    }
    // The same text is gone elsewhere instead.
    let base = "class Base:\n    def total(self, x):\n        raise NotImplementedError\n";
    let balanced = CLASSES.replace(base, "class Base:\n    def total(self, x):\n        return 0\n");
    assert!(!is_rewritten(bed, "total", &balanced.replace(BODY, EMPTY)));
    assert!(!is_rewritten(bed, "Sums.total", &balanced.replace(METHOD, "        raise NotImplementedError\n")));
    // In another module.
    let texts = with_sample(bed, CLASSES);
    let helper = with_sample(bed, &CLASSES.replace(BODY, "    from tally.names import stub\n    return stub()\n"));
    let text = "\"\"\"Labels.\"\"\"\n";
    let stub = format!("{text}\n\ndef stub():\n    raise NotImplementedError\n");
    let now = replaced(&helper, "src/tally/names.py", text, &stub);
    let repo = RepoContext { texts: &texts, ..bed.repo() };
    let cost = &mut Evidence::default();
    assert!(!function(bed, &texts, "total").is_rewritten(&bed.sandbox, &repo, &now, cost).unwrap());
}

#[test]
fn a_definition_is_one_that_python_takes() {
    let Some(bed) = bed() else { return };
    let whole = format!("def total(numbers):\n    \"\"\"Adds.\"\"\"\n{BODY}");
    for text in ["", "# def total(numbers): return 1\n", "TEXT = 'def total(numbers): return 1'\n", "total = sum\n"] {
        assert!(!is_rewritten(bed, "total", &CLASSES.replace(&whole, text)), "{text}");
    }
    let written = CLASSES.replace(BODY, "    return 1\n");
    for behind in [
        "def total(numbers):\n    return 2\n",
        "if True:\n    def total(numbers):\n        return 2\n",
        "total = sum\n",
        "from math import *\n",
        "from math import fsum as total\n",
        "def swap():\n    global total\n    total = sum\n",
        "del total\n",
    ] {
        assert!(!is_rewritten(bed, "total", &format!("{written}\n\n{behind}")), "{behind}");
    }
    let written = CLASSES.replace(METHOD, "        return 1\n");
    for behind in [
        "class Sums(Base):\n    pass\n",
        "Sums = Base\n",
        "Sums.total = Base.total\n",
        "del Sums.total\n",
        "Other = Sums\nOther.total = Base.total\n",
        "class Helper:\n    Sums.total = Base.total\n",
        "class Helper:\n    global Sums\n    Sums = Base\n",
        "def helper() -> (Sums := Base):\n    pass\n",
    ] {
        assert!(!is_rewritten(bed, "Sums.total", &format!("{written}\n\n{behind}")), "{behind}");
    }
    let twice = written.replace("        return 1\n", "        return 1\n\n    total = Base.total\n");
    assert!(!is_rewritten(bed, "Sums.total", &twice));
}

#[test]
fn a_helper_class_may_bind_the_names_of_what_is_written_anew() {
    let Some(bed) = bed() else { return };
    let helper = "class Helper:\n    Sums = None\n\n    def total(self):\n        return 1\n";
    let indented = helper.replace('\n', "\n    ");
    for (name, written) in [
        ("total", CLASSES.replace(BODY, "    return Helper().total()\n")),
        ("Sums.total", CLASSES.replace(METHOD, "        return Helper().total()\n")),
    ] {
        for behind in
            [helper.to_owned(), format!("if True:\n    {indented}\n"), format!("class Outer:\n    {indented}\n")]
        {
            assert!(is_rewritten(bed, name, &format!("{written}\n\n{behind}")), "{name}: {behind}");
        }
    }
    let global = "class Helper:\n    global total\n\n    def total(self):\n        return 1\n";
    let written = CLASSES.replace(BODY, "    return 2\n");
    assert!(!is_rewritten(bed, "total", &format!("{written}\n\n{global}")), "it is the module's");
}

#[test]
fn a_function_that_raises_what_an_emptied_one_does_is_not_emptied() {
    let Some(bed) = bed() else { return };
    let texts = with_sample(bed, CLASSES);
    assert!(function(bed, &texts, "total").emptied(CLASSES).is_some());
    assert_eq!(function(bed, &texts, "Base.total").emptied(CLASSES), None);
}

#[test]
fn a_removal_leaves_less_code_and_not_only_fewer_lines() {
    let Some(bed) = bed() else { return };
    let original =
        format!("{CLASSES}\n\ndef three(x: int) -> int:\n    # Three.\n    return total(\n        x,\n    )\n");
    let texts = with_sample(bed, &original);
    let repo = RepoContext { texts: &texts, ..bed.repo() };
    let has_less = |now: &TextFiles| {
        let mut cost = Evidence::default();
        let has_less = has_less_code(&bed.sandbox, &repo, now, &mut cost).unwrap();
        assert!(cost.jobs.len() == 1 && cost.fuel > 0, "{cost:?}");
        has_less
    };
    for (old, new) in [("    result = 0\n", ""), ("(Base):", ":"), ("    @property\n", ""), ("        x,\n", "")] {
        assert!(has_less(&with_sample(bed, &original.replace(old, new))), "{old}");
    }
    let mut deleted = texts.clone();
    deleted.remove(PATH);
    assert!(has_less(&deleted));
    for (old, new) in [
        ("", ""),
        ("    # Three.\n", ""),
        ("    \"\"\"Adds.\"\"\"\n", ""),
        ("(x: int) -> int:", "(x):"),
        ("total(\n        x,\n    )", "total(x)"),
        ("    # Three.\n    return total(\n        x,\n    )", "    return total(-x)"),
        ("    result = 0\n", "    (\n"),
    ] {
        assert!(!has_less(&with_sample(bed, &original.replace(old, new))), "{old}");
    }
    // It has moved to another file.
    let moved = original
        .replace("    result = 0\n    return result\n", "    from tally.names import result\n    return result\n");
    let names = bed.texts["src/tally/names.py"].clone();
    let mut now = with_sample(bed, &moved);
    now.insert("src/tally/names.py".to_owned(), format!("{names}\n\nresult = 0\n"));
    assert!(!has_less(&now));
}

/// Meets the deadline of every job.
struct Late;

impl Execute for Late {
    fn execute(&self, job: &Job) -> Result<Outcome, ExecuteError> {
        let (limit, allowed) = (LimitKind::DeadlineNs, job.limits.deadline_ns);
        Ok(Outcome { fuel: 7, ..Outcome::new(Exit::Exceeded { limit, allowed, used: allowed }) })
    }
}

#[test]
fn a_mode_whose_check_meets_its_deadline_says_so() {
    let Some(bed) = bed() else { return };
    let undoing = Undoing::of(bed, &GUARDED.replace(GUARD, ""), GUARDED);
    let repo = RepoContext { texts: &undoing.texts, ..bed.repo() };
    let (now, mut cost) = (with_sample(bed, &GUARDED.replace(GUARD, "")), Evidence::default());
    assert!(!undoing.change.is_undone_by(&Late, &repo, &now, &mut cost).unwrap());
    assert!(cost.met_deadline && cost.fuel == 7, "{cost:?}");
    assert!(undoing.change.can_be_undone(&Late, &repo).is_err(), "another run may find that it can");
    let mut cost = Evidence::default();
    assert!(!function(bed, &undoing.texts, "one").is_rewritten(&Late, &repo, &now, &mut cost).unwrap());
    assert!(cost.met_deadline && cost.fuel == 7, "{cost:?}");
}

const GUARDED: &str = "\
def one(x):
    if not x:
        return None
    return x[0]


A = 1


def two(x):
    if len(x) <= 1:
        return None
    return x[1]
";
const GUARD: &str = "    if not x:\n        return None\n";

/// A past change of the module, in the repository after it.
struct Undoing<'a> {
    bed: &'a Bed,
    texts: TextFiles,
    change: PastChange,
}

impl<'a> Undoing<'a> {
    fn of(bed: &'a Bed, before: &str, after: &str) -> Self {
        let (texts, commit) = (with_sample(bed, after), Commit { hash: "abc", subject: "Handles nothing" });
        let change = PastChange::of_file(&texts, PATH, (before, after), &commit).unwrap();
        Self { bed, texts, change }
    }

    fn is_undone_by(&self, now: &TextFiles) -> bool {
        let repo = RepoContext { texts: &self.texts, ..self.bed.repo() };
        let mut cost = Evidence::default();
        let is_undone = self.change.is_undone_by(&self.bed.sandbox, &repo, now, &mut cost).unwrap();
        let asked = usize::from(now.contains_key(PATH));
        assert!(cost.jobs.len() == asked && (cost.fuel > 0) == (asked > 0) && !cost.met_deadline, "{cost:?}");
        is_undone
    }

    fn is_undone_in(&self, now: &str) -> bool {
        self.is_undone_by(&with_sample(self.bed, now))
    }

    fn can_be_undone(&self) -> bool {
        let repo = RepoContext { texts: &self.texts, ..self.bed.repo() };
        self.change.can_be_undone(&self.bed.sandbox, &repo).unwrap()
    }
}

#[test]
fn code_that_a_change_added_is_undone_when_it_is_gone() {
    let Some(bed) = bed() else { return };
    let undoing = Undoing::of(bed, &GUARDED.replace(GUARD, ""), GUARDED);
    assert!(undoing.can_be_undone());
    for now in ["", "    # if not x: return None\n", "    if not x:\n        pass\n", "    return None\n"] {
        assert!(undoing.is_undone_in(&GUARDED.replace(GUARD, now)), "{now}");
    }
    assert!(undoing.is_undone_in(&GUARDED.replace(&format!("{GUARD}    return x[0]"), "    return x[1]")));
    for (what, now) in [
        ("nothing", GUARDED.to_owned()),
        ("elsewhere", GUARDED.replace("A = 1", "A = 2")),
        ("another guard", GUARDED.replace("    if len(x) <= 1:\n        return None\n", "")),
        ("parentheses", GUARDED.replace("if not x:", "if (not (x)):  # as before")),
        ("one line", GUARDED.replace(GUARD, "    if not x: return None\n")),
        ("a text", GUARDED.replace(GUARD, "    if not x:\n        'nothing'\n        return None\n")),
        ("other words", GUARDED.replace("if not x:", "if x == []:")),
        ("another name", GUARDED.replace(GUARD, "    y = x\n    if not y:\n        return None\n")),
        ("joined", GUARDED.replace(&format!("{GUARD}    return x[0]"), "    return x[0] if x else None")),
        ("moved", format!("{}\n\ndef three(x):\n{GUARD}", GUARDED.replace(GUARD, ""))),
        ("no Python", GUARDED.replace(GUARD, "    (\n")),
    ] {
        assert!(!undoing.is_undone_in(&now), "{what}");
    }
    let wrapped = "    if True:\n        if not x:\n            return None\n        return x[0]\n";
    assert!(!undoing.is_undone_in(&GUARDED.replace(&format!("{GUARD}    return x[0]\n"), wrapped)));
    let mut deleted = undoing.texts.clone();
    deleted.remove(PATH);
    assert!(!undoing.is_undone_by(&deleted), "a deleted file has none of it");
}

#[test]
fn code_that_comes_again_behind_a_line_that_stays_is_not_gone() {
    let Some(bed) = bed() else { return };
    let guarded = GUARDED.replace("    return x[0]", "    y = x\n    return y[0]");
    let undoing = Undoing::of(bed, &guarded.replace(GUARD, ""), &guarded);
    let without = guarded.replace(GUARD, "");
    for guard in ["    if not y:\n        return None\n", "    if x == []:\n        return None\n"] {
        let now = without.replacen("    y = x\n", &format!("    y = x\n{guard}"), 1);
        assert!(!undoing.is_undone_in(&now), "{guard}");
        assert!(!undoing.is_undone_in(&now.replace("A = 1", "A = 2")), "{guard} and a change elsewhere");
    }
    assert!(undoing.is_undone_in(&without.replace("A = 1", "A = 2")));
    // Neither is it where a larger statement went with it.
    let large = GUARDED.replace("    return x[0]", "    y = [a * a + 1 for a in x if a]\n    return y[0]");
    let undoing = Undoing::of(bed, &large.replace(GUARD, ""), &large);
    let smaller = large.replace("[a * a + 1 for a in x if a]", "x");
    assert!(!undoing.is_undone_in(&smaller.replace("if not x:", "if x == []:")));
    assert!(undoing.is_undone_in(&smaller.replace(GUARD, "")));
}

#[test]
fn code_that_a_change_replaced_is_undone_when_the_old_is_back_and_the_new_is_gone() {
    let Some(bed) = bed() else { return };
    let undoing = Undoing::of(bed, &GUARDED.replace("<= 1", "< 2"), GUARDED);
    assert!(undoing.is_undone_in(&GUARDED.replace("len(x) <= 1", "len( x )<2")));
    for now in [
        "    if 1 >= len(x):\n        return None\n",
        "    if len(x) < 2:\n        pass\n    if len(x) <= 1:\n        return None\n",
        "    if False:\n        if len(x) < 2:\n            pass\n    if len(x) <= 1:\n        return None\n",
        "    if len(x) < 2:\n        return None\n    if len(x) == 1:\n        return None\n",
    ] {
        let old = "    if len(x) <= 1:\n        return None\n";
        assert!(!undoing.is_undone_in(&GUARDED.replace(old, now)), "{now}");
    }
}

#[test]
fn a_guard_is_undone_alone_where_its_change_replaced_the_line_beside_it_too() {
    let Some(bed) = bed() else { return };
    let before = GUARDED.replace(&format!("{GUARD}    return x[0]"), "    return x[-1]");
    let undoing = Undoing::of(bed, &before, GUARDED);
    for now in ["", "    if not x:\n        pass\n"] {
        assert!(undoing.is_undone_in(&GUARDED.replace(GUARD, now)), "{now}");
    }
    assert!(undoing.is_undone_in(&before));
    let whole = format!("{GUARD}    return x[0]\n");
    for now in [
        // Nothing of the guard is gone.
        format!("{GUARD}    return x[1 - 1]\n"),
        format!("{GUARD}    return x[2]\n"),
        format!("{GUARD}    pass\n"),
        // It is there in other words.
        whole.replace("if not x:", "if x == []:"),
        "    return x[0] if x else None\n".to_owned(),
        // What the change put instead is not there, and neither is what it took away.
        "    pass\n".to_owned(),
        "    return x[2]\n".to_owned(),
        "    return x and x[0]\n\n\ndef three(x):\n    return x[0]\n".to_owned(),
    ] {
        assert!(!undoing.is_undone_in(&GUARDED.replace(&whole, &now)), "{now}");
    }
    // In a loop whose head it replaced.
    let looping = "def each(b):\n    for a in sorted(b):\n        if a:\n            continue\n        b = two(a)\n    return b\n";
    let guard = "        if a:\n            continue\n";
    let before = looping.replace("sorted(b)", "b").replace(guard, "").replace("two(a)", "one(a)");
    let undoing = Undoing::of(bed, &before, looping);
    assert!(undoing.is_undone_in(&looping.replace(guard, "")));
    assert!(!undoing.is_undone_in(&looping.replace("sorted(b)", "sorted(b, key=None)")));
    // A statement of another kind stands where the guard was.
    let undoing = Undoing::of(bed, &GUARDED.replace(GUARD, "    assert x\n"), GUARDED);
    assert!(!undoing.is_undone_in(&GUARDED.replace(GUARD, "")));
    assert!(undoing.is_undone_in(&GUARDED.replace(GUARD, "    assert x\n")));
}

#[test]
fn code_that_a_change_took_away_is_undone_when_it_is_back_at_its_place() {
    let Some(bed) = bed() else { return };
    let with_call = |place: &str, code: &str| GUARDED.replace(place, &format!("{place}{code}"));
    let undoing = Undoing::of(bed, &with_call("def one(x):\n", "    remember(x)\n"), GUARDED);
    assert!(undoing.is_undone_in(&with_call("def one(x):\n", "    remember( x )  # again\n")));
    for (place, code) in [
        ("def two(x):\n", "    remember(x)\n"),
        ("    return x[0]\n", "    remember(x)\n"),
        ("def one(x):\n", "    # remember(x)\n"),
        ("def one(x):\n", "    \"remember(x)\"\n"),
        ("def one(x):\n", "    if False:\n        remember(x)\n"),
    ] {
        assert!(!undoing.is_undone_in(&with_call(place, code)), "{place}{code}");
    }
    let copy = format!("def one(x):\n    remember(x)\n\n\n{GUARDED}");
    assert!(!undoing.is_undone_in(&copy), "Python takes the other `one`");
}

#[test]
fn a_change_without_code_or_of_order_alone_cannot_be_undone() {
    let Some(bed) = bed() else { return };
    for before in [
        GUARDED.replace("    return x[0]", "    # The first.\n    return x[0]"),
        GUARDED.replace("A = 1", "A = (1)"),
        GUARDED.replace("A = 1\n", "").replace("def one", "A = 1\n\n\ndef one"),
    ] {
        assert!(!Undoing::of(bed, &before, GUARDED).can_be_undone(), "{before}");
    }
}

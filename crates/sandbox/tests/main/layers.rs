//! Layers: what jobs share without being able to change it, whoever runs them.

use veriplay_core::{
    Callee, Entry, Execute, ExecuteError, Exit, Job, Layer, LayerError, LayerMount, LayerRoot, LayerStack, Outcome,
};
use veriplay_sandbox::{Layers, Sandbox, SandboxOptions};

use crate::support::{python, script};

fn layer(files: &[(&str, &str)]) -> Layer {
    Layer::new(files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))).unwrap()
}

fn repository() -> Layer {
    layer(&[("pkg/__init__.py", "NAME = 'base'\n"), ("pkg/deep/data.txt", "data\n"), ("setup.cfg", "[x]\n")])
}

fn tools() -> Layer {
    layer(&[("tool.py", "WORD = 'tool'\n")])
}

fn sandbox() -> Sandbox {
    Sandbox::new(python(), SandboxOptions::fastest()).with_layers(all())
}

fn all() -> Layers {
    [repository(), tools()].into_iter().collect()
}

fn at(layer: &Layer, at: LayerRoot) -> LayerMount {
    LayerMount { layer: layer.digest().clone(), at }
}

fn base() -> LayerStack {
    LayerStack {
        layers: vec![at(&tools(), LayerRoot::Library), at(&repository(), LayerRoot::Work)],
        without: Vec::new(),
    }
}

fn over(base: LayerStack, files: &[(&str, &str)], program: &str) -> Job {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    Job { base: Some(base), files, entry: Entry::Script, ..script(program) }
}

fn printed(outcome: &Outcome) -> String {
    assert_eq!(outcome.exit, Exit::Returned, "{:?} {}", outcome.error, String::from_utf8_lossy(&outcome.stderr));
    String::from_utf8(outcome.stdout.clone()).unwrap()
}

fn said(base: LayerStack, files: &[(&str, &str)], program: &str) -> String {
    printed(&sandbox().execute(&over(base, files, program)).unwrap())
}

fn refused(job: &Job) -> String {
    match sandbox().execute(job) {
        Err(ExecuteError::BadJob(why)) => why,
        other => panic!("{other:?}"),
    }
}

const VANDAL: &str = include_str!("vandal.py");

#[test]
fn a_program_can_change_nothing_of_a_layer() {
    let sandbox = sandbox();
    let first = printed(&sandbox.execute(&over(base(), &[], VANDAL)).unwrap());
    let lines: Vec<&str> = first.lines().collect();
    assert_eq!(lines.iter().filter(|line| **line == "done").count(), 1, "only `new.py` beside the layer: {first}");
    assert_eq!(lines.last(), Some(&"NAME = 'base'"));
    let again = printed(&sandbox.execute(&over(base(), &[], VANDAL)).unwrap());
    assert_eq!(first, again, "the next job finds the same");
}

#[test]
fn a_jobs_own_files_hide_those_of_a_layer() {
    let program = "import pkg\nprint(pkg.NAME, open('pkg/deep/data.txt').read().strip())\n";
    let program = format!("import sys\nsys.path.insert(0, '/work')\n{program}");
    assert_eq!(said(base(), &[], &program), "base data\n");
    assert_eq!(said(base(), &[("pkg/__init__.py", "NAME = 'patched'\n")], &program), "patched data\n");
    assert_eq!(said(base(), &[], &program), "base data\n", "a patch is gone with its job");
}

#[test]
fn a_jobs_own_file_in_a_layers_directory_can_be_written() {
    let program = "open('pkg/mine.py', 'a').write('B')\nprint(open('pkg/mine.py').read())\n";
    assert_eq!(said(base(), &[("pkg/mine.py", "A")], program), "AB\n");
}

#[test]
fn a_hidden_file_is_not_there_and_neither_is_its_empty_directory() {
    let base = LayerStack { without: vec!["pkg/deep/data.txt".to_owned()], ..base() };
    let program = "import os\nprint(sorted(os.listdir('pkg')), os.path.exists('pkg/deep'))\n";
    assert_eq!(said(base.clone(), &[], program), "['__init__.py'] False\n");
    assert_eq!(said(base, &[("pkg/deep", "now a file")], program), "['__init__.py', 'deep'] True\n");
}

#[test]
fn a_library_lies_apart_from_the_working_directory() {
    let program =
        "import os, sys\nsys.path.append('/opt/lib')\nimport tool\nprint(tool.WORD, sorted(os.listdir('.')))\n";
    assert_eq!(said(base(), &[], program), "tool ['pkg', 'setup.cfg']\n");
}

#[test]
fn an_upper_layer_hides_a_lower_one() {
    let upper = layer(&[("setup.cfg", "[y]\n")]);
    let layers: Layers = [repository(), upper.clone()].into_iter().collect();
    let sandbox = Sandbox::new(python(), SandboxOptions::fastest()).with_layers(layers);
    let both = |first: &Layer, second: &Layer| LayerStack {
        layers: vec![at(first, LayerRoot::Work), at(second, LayerRoot::Work)],
        without: Vec::new(),
    };
    let read = |base| printed(&sandbox.execute(&over(base, &[], "print(open('setup.cfg').read().strip())")).unwrap());
    assert_eq!(read(both(&repository(), &upper)), "[y]\n");
    assert_eq!(read(both(&upper, &repository())), "[x]\n");
}

#[test]
fn what_does_not_fit_is_a_bad_job_and_no_fault() {
    let missing = LayerStack { layers: vec![at(&layer(&[("a", "")]), LayerRoot::Work)], without: Vec::new() };
    assert!(refused(&over(missing, &[], "pass")).contains("is not one of this sandbox"));
    let hidden = LayerStack { without: vec!["none.py".to_owned()], ..base() };
    assert!(refused(&over(hidden, &[], "pass")).contains("no layer has it"));
    assert!(refused(&over(base(), &[("setup.cfg/x", "")], "pass")).contains("lies below `setup.cfg`"));
    assert!(refused(&over(base(), &[("pkg", "")], "pass")).contains("is a directory of a layer"));
    let clashing = layer(&[("pkg", "a file")]);
    let both = LayerStack {
        layers: vec![at(&repository(), LayerRoot::Work), at(&clashing, LayerRoot::Work)],
        without: Vec::new(),
    };
    let sandbox =
        Sandbox::new(python(), SandboxOptions::fastest()).with_layers([repository(), clashing].into_iter().collect());
    assert!(matches!(sandbox.execute(&over(both, &[], "pass")), Err(ExecuteError::BadJob(_))));
}

#[test]
fn a_layer_is_named_by_what_is_in_it() {
    let same =
        layer(&[("setup.cfg", "[x]\n"), ("pkg/deep/data.txt", "data\n"), ("pkg/__init__.py", "NAME = 'base'\n")]);
    assert_eq!(repository().digest(), same.digest(), "the order is none of it");
    assert_ne!(repository().digest(), layer(&[("setup.cfg", "[x]\n")]).digest());
    assert_ne!(layer(&[("a", "bc")]).digest(), layer(&[("ab", "c")]).digest());
    let base = over(base(), &[], "pass");
    assert_ne!(base.digest(), Job { base: None, ..base.clone() }.digest());
}

#[test]
fn files_that_make_no_tree_make_no_layer() {
    let made = |files: &[(&str, &str)]| {
        Layer::new(files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())))
    };
    assert!(matches!(made(&[("../x", "")]), Err(LayerError::Path(_))));
    assert!(matches!(made(&[("/x", "")]), Err(LayerError::Path(_))));
    assert!(matches!(made(&[("x", "1"), ("x", "2")]), Err(LayerError::Twice(_))));
    assert!(matches!(made(&[("x", "1"), ("x/y", "2")]), Err(LayerError::Clash(..))));
    assert!(made(&[("x", "1"), ("xy/z", "2"), ("x.y", "3")]).is_ok());
}

#[test]
fn worker_processes_come_to_the_same_outcome() {
    let binary = crate::workers::program();
    let processes = Sandbox::in_processes(python(), SandboxOptions::fastest(), binary).unwrap().with_layers(all());
    let threads = sandbox();
    for job in [over(base(), &[], VANDAL), over(base(), &[("pkg/x.bin", "\u{0}")], "print(open('pkg/x.bin').read())")] {
        let (here, there) = (threads.execute(&job).unwrap(), processes.execute(&job).unwrap());
        assert_eq!(here.exit, Exit::Returned);
        assert_eq!(here, there, "fuel included");
    }
}

#[test]
fn a_layer_survives_the_way_to_another_process() {
    let bytes = Layer::new([("b".to_owned(), vec![0xff, 0, 1]), ("t".to_owned(), "é".into())]).unwrap();
    let sent = serde_json::to_string(&bytes).unwrap();
    assert_eq!(serde_json::from_str::<Layer>(&sent).unwrap(), bytes);
    let forged = sent.replace("\"t\"", "\"../t\"");
    assert!(serde_json::from_str::<Layer>(&forged).is_err());
}

#[test]
fn a_callee_sees_the_same_layers() {
    let asks = "import _veriplay\nprint(_veriplay.ask_callee(('call', 'read', [], {})))\n";
    let callee = "def read():\n    return open('setup.cfg').read()\n";
    let callee = Some(Callee { program: callee.to_owned(), seed: 9, ..Callee::default() });
    let job = Job { callee, ..over(base(), &[], asks) };
    assert_eq!(printed(&sandbox().execute(&job).unwrap()), "[x]\n\n");
}

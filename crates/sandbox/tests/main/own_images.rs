//! Images of the user's own: manifests that extend a built-in image. Programs in one are in the tests of the command line.

use std::fs;

use veriplay_sandbox::{ImageError, ImageSpec, ImageStore};

/// The parts of a manifest that name an interpreter.
const INTERPRETER: &str = "[interpreter]\nimmortal_count = 7\nfile = 'own.whl'\nsha256 = 'AA'\nwasm = 'w'\n\
                           stdlib = 's'\nstdlib_at = '/lib.zip'\n";

/// The image of the manifest `text` in a directory of its own.
fn find(text: &str) -> Result<ImageSpec, ImageError> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("own.toml"), text).unwrap();
    ImageSpec::find_in(dir.path(), "own")
}

#[test]
fn a_manifest_extends_a_built_in_image() {
    let own = |rest: &str| find(&format!("name = 'own'\nbase = 'python'\n{rest}")).unwrap();
    let (python, plain, with_more) = (ImageSpec::python(), own(""), own("preload = ['colorsys']"));
    assert_eq!((plain.name(), plain.guest()), ("own", "python"));
    assert_eq!(plain.default_limits(), python.default_limits());
    let other = own(INTERPRETER);
    // Not where the file lies.
    assert_eq!(other.digest(), own(INTERPRETER).digest());
    let counted = own(&INTERPRETER.replace("= 7", "= 8"));
    let library = own("[[libraries]]\nfile = 'some.whl'\nsha256 = 'aa'");
    let digests =
        [python.digest(), plain.digest(), with_more.digest(), other.digest(), counted.digest(), library.digest()];
    let different: std::collections::BTreeSet<&str> = digests.iter().map(|digest| digest.as_str()).collect();
    assert_eq!(different.len(), digests.len());
}

#[test]
fn a_manifest_that_is_not_valid_is_named_with_what_is_wrong() {
    for (text, expected) in [
        ("name = 'other'\nbase = 'python'".to_owned(), "`name` is `other`"),
        ("name = 'own'\nbase = 'pithon'".to_owned(), "there is no image `pithon`"),
        ("name = 'own'".to_owned(), "missing field `base`"),
        ("name = 'own'\nbase = 'python'\nlimits = 1".to_owned(), "unknown field `limits`"),
        ("name = 'own'\nbase = 'python'\npreload = ['os; import sys']".to_owned(), "`os; import sys`"),
        ("name = 'own'\nbase = 'python'\npreload = ['']".to_owned(), "no name of a module"),
        ("name = 'own'\nbase = 'python'\n[[libraries]]\nfile = 'some.whl'".to_owned(), "missing field `sha256`"),
        // pip would run code of what it is told to fetch.
        (
            "name = 'own'\nbase = 'python'\n[[libraries]]\nrequirement = 'some'\nsha256 = 'aa'".to_owned(),
            "has no `file`",
        ),
        (
            format!("name = 'own'\nbase = 'python'\n{}", INTERPRETER.replace("file = 'own.whl'", "")),
            "missing field `file`",
        ),
        (format!("name = 'own'\nbase = 'python'\n{INTERPRETER}requirement = 'own'"), "unknown field `requirement`"),
    ] {
        let error = find(&text).unwrap_err();
        assert!(
            matches!(&error, ImageError::OwnManifest { path, .. } if path.ends_with("own.toml")),
            "{text}: {error}"
        );
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("folder.toml")).unwrap();
    fs::write(dir.path().join("long.toml"), " ".repeat(1 << 17)).unwrap();
    fs::write(dir.path().join("python.toml"), "name = 'python'\nbase = 'python'").unwrap();
    for (name, expected) in [("folder", "no file"), ("long", "at most 64 KiB"), ("python", "built-in image")] {
        let error = ImageSpec::find_in(dir.path(), name).unwrap_err();
        assert!(matches!(&error, ImageError::OwnManifest { .. }) && error.to_string().contains(expected), "{error}");
    }
    for missing in ["own", "", "../up", "folder/../up", ".", "-x"] {
        let error = ImageSpec::find_in(&dir.path().join("folder.toml"), missing).unwrap_err();
        assert!(matches!(&error, ImageError::UnknownName { name, .. } if name == missing), "{error}");
    }
    assert_eq!(ImageSpec::find_in(&dir.path().join("folder.toml"), "python").unwrap(), ImageSpec::python());
    let error = ImageSpec::find_in(&dir.path().join("nowhere"), "own").unwrap_err();
    assert!(error.to_string().contains("it is no directory"), "{error}");
}

#[test]
fn the_wheel_lies_beside_the_manifest_and_must_be_the_pinned_one() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("own.toml"), format!("name = 'own'\nbase = 'python'\n{INTERPRETER}")).unwrap();
    let spec = ImageSpec::find_in(dir.path(), "own").unwrap();
    let store = ImageStore::open(&dir.path().join("cache")).unwrap();
    let error = store.load_or_build(&spec, &|_| {}).unwrap_err();
    assert!(matches!(&error, ImageError::BadWheel { path, .. } if *path == dir.path().join("own.whl")), "{error}");
    fs::write(dir.path().join("own.whl"), "no wheel").unwrap();
    let error = store.load_or_build(&spec, &|_| {}).unwrap_err();
    assert!(matches!(&error, ImageError::WrongDigest { expected, .. } if expected == "aa"), "{error}");
    let given = dir.path().join("given.whl");
    let error = store.with_wheel(&given).load_or_build(&spec, &|_| {}).unwrap_err();
    assert!(matches!(&error, ImageError::BadWheel { path, .. } if *path == given), "{error}");
}

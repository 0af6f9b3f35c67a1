//! The configurations and recipes that the program carries, so that no command needs a checkout: the files of `configs`.
//!
//! Every command that takes `--config FILE` takes their names, too.

/// A file of `configs`.
pub struct BuiltinConfig {
    /// The file's name without `.toml`.
    pub name: &'static str,
    /// The text of the file.
    pub text: &'static str,
}

/// Defines [`BUILTIN_CONFIGS`] from the names of its files.
macro_rules! builtin_configs {
    ($($name:literal),* $(,)?) => {
        /// All of them, by name.
        pub const BUILTIN_CONFIGS: &[BuiltinConfig] = &[
            $(BuiltinConfig { name: $name, text: include_str!(concat!("../../../configs/", $name, ".toml")) }),*
        ];
    };
}

builtin_configs!(
    "absolute-zero-1.5b", "absolute-zero-3b", "absolute-zero-7b", "bug-repair-quickstart", "bug-repair-qwen",
    "bug-repair-warmup", "ladder-quickstart", "quickstart", "self-challenge-quickstart", "self-challenge-qwen",
    "self-challenge-warmup", "sgs-quickstart", "smollm2", "smollm2-bug-repair", "smollm2-self-challenge",
    "smollm2-sol-ver", "smollm2-warmup", "soar-quickstart", "sol-ver-quickstart", "sol-ver-qwen", "sol-ver-warmup",
    "spice-quickstart", "svs-quickstart", "warmup",
);

/// The game of a configuration without the key `plays`.
pub const DEFAULT_GAME: &str = "absolute_zero";

/// The configuration of `veriplay play` without `--config`.
pub const QUICKSTART: &str = include_str!("../../../configs/quickstart.toml");

/// The one of that name. For the name of a game it is the game's quickstart.
pub fn find(name: &str) -> Option<&'static BuiltinConfig> {
    let quickstart = match name {
        DEFAULT_GAME => "quickstart".to_owned(),
        game => format!("{}-quickstart", game.replace('_', "-")),
    };
    BUILTIN_CONFIGS.iter().find(|config| config.name == name || config.name == quickstart)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::BUILTIN_CONFIGS;

    #[test]
    fn every_file_of_the_folder_is_built_in() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
        let paths = std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("a file").path());
        let files = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
        let names: BTreeSet<String> =
            files.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
        assert!(names.iter().eq(BUILTIN_CONFIGS.iter().map(|config| config.name)), "{names:?}");
    }
}

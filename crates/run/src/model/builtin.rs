//! The models that the program carries: a small one for each game.

/// What their names begin with.
pub(super) const PREFIX: &str = "builtin:";

/// The model of the quickstart.
pub const TINY: &str = "builtin:tiny";

/// A model that the program carries.
pub(super) struct BuiltinModel {
    /// The name that commands and configurations take.
    pub(super) name: &'static str,
    pub(super) config: &'static str,
    pub(super) tokenizer: &'static str,
    pub(super) weights: &'static [u8],
}

/// The model in a folder of `models`.
macro_rules! builtin {
    ($folder:literal) => {
        BuiltinModel {
            name: concat!("builtin:", $folder),
            config: include_str!(concat!("../../../../models/", $folder, "/config.json")),
            tokenizer: include_str!(concat!("../../../../models/", $folder, "/tokenizer.json")),
            weights: include_bytes!(concat!("../../../../models/", $folder, "/model.safetensors")),
        }
    };
}

/// Every built-in model: one for each game that has a quickstart.
const MODELS: &[BuiltinModel] =
    &[builtin!("tiny"), builtin!("bug-repair"), builtin!("self-challenge"), builtin!("sol-ver")];

/// The built-in model of that name.
pub(super) fn find(name: &str) -> Option<&'static BuiltinModel> {
    MODELS.iter().find(|model| model.name == name)
}

/// The names of all built-in models.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|model| model.name)
}

//! The part of an image's description that images of JavaScript have: the interpreter's package, its stack, the interface of Node.js, and what
//! makes JavaScript of TypeScript.

use serde::{Deserialize, Serialize};
use veriplay_core::{Digest, Limits, content_hash};
use veriplay_image_javascript::{
    HARNESS, MANIFEST, NODE, REHEARSED, REHEARSED_ARGUMENTS, TYPESCRIPT, TYPESCRIPT_MANIFEST,
};

use super::{Common, ENGINE_VERSION, ImageSpec, Runtime, SHIM_VERSION, bad_manifest};
use crate::image::ImageError;
use crate::meter;

/// What an image of JavaScript is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JavaScriptSpec {
    /// The stack of the interpreter, in place of the module's own.
    pub(crate) c_stack_bytes: u32,
    /// What of it is left to native code when `RangeError` is raised.
    pub(crate) c_stack_guard_bytes: u32,
    /// Allocated bytes before the first collection of garbage.
    pub(crate) gc_threshold_bytes: u32,
    pub(crate) package: PackageSpec,
    /// The source of the interface of Node.js.
    pub(crate) node: String,
    /// What makes JavaScript of a program's text.
    pub(crate) translator: Option<TranslatorSpec>,
}

/// What makes JavaScript of a program's text, inside the guest and before the program runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TranslatorSpec {
    pub(crate) package: PackageSpec,
    /// A function that is called with the package's scripts, and returns the one that translates.
    pub(crate) source: String,
}

/// A package of npm's that the guest's binary comes from, or scripts of the image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PackageSpec {
    pub(crate) npm: String,
    pub(crate) version: String,
    /// The digest that npm's registries state, for people who compare.
    pub(crate) integrity: String,
    /// The archive's sha256, in lower-case hexadecimal.
    pub(crate) sha256: String,
    /// The member that is the wasm module, or the folder of scripts.
    #[serde(rename = "wasm", alias = "scripts")]
    pub(crate) member: String,
}

impl PackageSpec {
    /// The name of its archive, as npm gives it: `@yowasp/clang` of version 1 is `yowasp-clang-1.tgz`.
    pub(crate) fn file_name(&self) -> String {
        format!("{}-{}.tgz", self.npm.trim_start_matches('@').replace('/', "-"), self.version)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JavaScriptManifest {
    name: String,
    seed: u64,
    headroom_bytes: u64,
    c_stack_bytes: u32,
    c_stack_guard_bytes: u32,
    gc_threshold_bytes: u32,
    rehearsals: u32,
    package: PackageSpec,
    limits: Limits,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypeScriptManifest {
    name: String,
    package: PackageSpec,
}

/// The image of JavaScript, which has no translator.
pub(super) fn javascript() -> Result<ImageSpec, ImageError> {
    let (common, javascript, limits) = parts()?;
    Ok(ImageSpec::new(common, Runtime::JavaScript(javascript), limits))
}

/// The image of TypeScript: that of JavaScript with a translator.
pub(super) fn typescript() -> Result<ImageSpec, ImageError> {
    let TypeScriptManifest { name, package } = toml::from_str(TYPESCRIPT_MANIFEST).map_err(bad_manifest)?;
    let (common, javascript, limits) = parts()?;
    let guest = common.name.clone();
    let translator = Some(TranslatorSpec { package, source: TYPESCRIPT.to_owned() });
    let runtime = Runtime::JavaScript(JavaScriptSpec { translator, ..javascript });
    Ok(ImageSpec { guest, ..ImageSpec::new(Common { name, ..common }, runtime, limits) })
}

fn parts() -> Result<(Common, JavaScriptSpec, Limits), ImageError> {
    let JavaScriptManifest {
        name,
        seed,
        headroom_bytes,
        c_stack_bytes,
        c_stack_guard_bytes,
        gc_threshold_bytes,
        rehearsals,
        package,
        limits,
    } = toml::from_str(MANIFEST).map_err(bad_manifest)?;
    let node = NODE.to_owned();
    let javascript =
        JavaScriptSpec { c_stack_bytes, c_stack_guard_bytes, gc_threshold_bytes, package, node, translator: None };
    let common = Common { name, seed, headroom_bytes, rehearsals, harness: HARNESS.to_owned() };
    Ok((common, javascript, limits))
}

impl JavaScriptSpec {
    pub(super) fn digest(&self, common: &Common) -> Digest {
        content_hash(&(
            (SHIM_VERSION, ENGINE_VERSION, meter::VERSION),
            (&common.name, common.seed, common.headroom_bytes, common.rehearsals),
            (self.c_stack_bytes, self.c_stack_guard_bytes, self.gc_threshold_bytes),
            &self.package,
            (&common.harness, &self.node, REHEARSED, REHEARSED_ARGUMENTS),
            &self.translator,
        ))
    }
}

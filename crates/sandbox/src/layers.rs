//! The layers of a sandbox, and the file trees they make.
//!
//! A tree is built when a job first names its layers, and kept for the next job, which then copies directory entries and no contents.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use veriplay_core::{Callee, Digest, Layer, LayerMount, LayerRoot, LayerStack};

use crate::wasi::files::{FileContent, NodeKind, Tree};

/// The most trees that are kept. Beyond it all are dropped, and built again when needed.
const MAX_TREES: usize = 64;

/// The paths that a callee does not see, and the only ones it sees.
type CalleeView = (Vec<String>, Option<Vec<String>>);

/// Trees by their layers and the view of a callee.
type Trees = HashMap<(Vec<LayerMount>, Option<CalleeView>), Arc<Tree>>;

/// The layers that jobs of a sandbox may name, by digest. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    by_digest: Arc<BTreeMap<Digest, Layer>>,
    trees: Arc<Mutex<Trees>>,
}

impl FromIterator<Layer> for Layers {
    fn from_iter<T: IntoIterator<Item = Layer>>(layers: T) -> Self {
        let by_digest = layers.into_iter().map(|layer| (layer.digest().clone(), layer)).collect();
        Self { by_digest: Arc::new(by_digest), trees: Arc::default() }
    }
}

impl Layers {
    /// All layers, to send to a worker process.
    pub(crate) fn to_vec(&self) -> Vec<Layer> {
        self.by_digest.values().cloned().collect()
    }

    /// The layers of `base`, from the lowest to the uppermost.
    fn find_layers<'a>(&'a self, base: &'a LayerStack) -> Result<Vec<(&'a Layer, LayerRoot)>, String> {
        let find = |mounted: &'a LayerMount| {
            let layer = self.by_digest.get(&mounted.layer).map(|layer| (layer, mounted.at));
            layer.ok_or_else(|| {
                format!("layer `{}` is not one of this sandbox; make it with that layer", mounted.layer.short())
            })
        };
        base.layers.iter().map(find).collect()
    }

    /// Checks that `files` can lie over `base` as the job, or its `callee`, sees it.
    /// Fails when a layer is missing, no layer has a path to hide, or a name would be both a file and a directory.
    pub(crate) fn check_files(
        &self,
        base: &LayerStack,
        callee: Option<&Callee>,
        files: &[(String, Vec<u8>)],
    ) -> Result<(), String> {
        let layers = self.find_layers(base)?;
        let work: Vec<&Layer> =
            layers.iter().filter(|(_, at)| *at == LayerRoot::Work).map(|(layer, _)| *layer).collect();
        let there = |path: &str| work.iter().any(|layer| layer.files().contains_key(path));
        if let Some(path) = base.without.iter().find(|path| !there(path)) {
            return Err(format!("`{path}` is to be hidden, and no layer has it"));
        }
        let seen =
            |path: &str| there(path) && !base.without.iter().any(|gone| gone == path) && !is_unseen(callee, path);
        for (path, _) in files {
            let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
            if let Some(file) = above.find(|above| seen(above)) {
                return Err(format!("file `{path}` lies below `{file}`, which is a file of a layer"));
            }
            let inside = format!("{path}/");
            let mut below = work.iter().flat_map(|layer| names_below(layer, &inside));
            if let Some(file) = below.find(|file| seen(file)) {
                return Err(format!("file `{path}` is a directory of a layer, which has `{file}`"));
            }
        }
        self.check_clashes(&layers)
    }

    /// Checks that no name is a file in one layer and a directory in another with the same root.
    fn check_clashes(&self, layers: &[(&Layer, LayerRoot)]) -> Result<(), String> {
        for (index, (upper, at)) in layers.iter().enumerate() {
            for (lower, _) in layers[..index].iter().filter(|(_, place)| place == at) {
                let clash = find_clash(upper, lower).or_else(|| find_clash(lower, upper));
                if let Some(path) = clash {
                    return Err(format!("`{path}` is a file in one layer and a directory in another"));
                }
            }
        }
        Ok(())
    }

    /// The image's tree with `base` as the job, or its `callee`, sees it, without their own files. [`Self::check_files`] must have succeeded.
    /// Fails when a layer is missing, or clashes with the image's tree.
    pub(crate) fn get_tree(
        &self,
        image: &Tree,
        base: &LayerStack,
        callee: Option<&Callee>,
    ) -> Result<Arc<Tree>, String> {
        if !base.without.is_empty() {
            return self.build_tree(image, base, callee).map(Arc::new);
        }
        let key = (base.layers.clone(), callee.map(|callee| (callee.hidden.clone(), callee.only.clone())));
        // Only complete trees are inserted, so a panic elsewhere leaves nothing incomplete.
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tree) = trees.get(&key) {
            return Ok(Arc::clone(tree));
        }
        let tree = Arc::new(self.build_tree(image, base, callee)?);
        if trees.len() >= MAX_TREES {
            trees.clear();
        }
        trees.insert(key, Arc::clone(&tree));
        Ok(tree)
    }

    fn build_tree(&self, image: &Tree, base: &LayerStack, callee: Option<&Callee>) -> Result<Tree, String> {
        let mut tree = image.clone();
        for (layer, at) in self.find_layers(base)? {
            for (path, bytes) in layer.files() {
                if at == LayerRoot::Work && (base.without.contains(path) || is_unseen(callee, path)) {
                    continue;
                }
                let file = NodeKind::File(FileContent::Shared(Arc::clone(bytes)));
                let placed = tree.insert_path(&format!("{}/{path}", at.path()), file, true);
                placed.map_err(|errno| format!("file `{path}` of a layer has no place (errno {})", errno.0))?;
            }
        }
        Ok(tree)
    }
}

fn is_unseen(callee: Option<&Callee>, path: &str) -> bool {
    callee.is_some_and(|callee| callee.hides(path))
}

/// The names of a layer that start with `inside`.
fn names_below<'a>(layer: &'a Layer, inside: &'a str) -> impl Iterator<Item = &'a String> {
    layer.files().range(inside.to_owned()..).map(|(name, _)| name).take_while(move |name| name.starts_with(inside))
}

/// Finds a file of `one` that is a directory of `other`.
fn find_clash<'a>(one: &'a Layer, other: &Layer) -> Option<&'a String> {
    one.files().keys().find(|path| names_below(other, &format!("{path}/")).next().is_some())
}

//! Features of the processor that compiled code may use, and the levels that an image can be compiled for.

/// The processors that an image is compiled for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CpuLevel {
    /// This machine's, with all its features.
    #[default]
    Native,
    /// Every x86-64 processor with SSE4.2: about since 2009.
    X86_64V2,
    /// Every x86-64 processor with AVX2: about since 2013.
    X86_64V3,
    /// The architecture without extensions. No image is compiled for it: it names a configuration of the engine.
    Baseline,
}

/// Defines the features: the standard library's name, cranelift's flag, and the level that begins to have it.
macro_rules! features {
    ($($name:tt $flag:literal $level:literal),* $(,)?) => {
        const FEATURES: &[(&str, &str, u8)] = &[$(($name, $flag, $level)),*];

        fn detected() -> Vec<&'static str> {
            #[cfg(target_arch = "x86_64")]
            let found = [$(($name, std::is_x86_feature_detected!($name))),*];
            #[cfg(not(target_arch = "x86_64"))]
            let found = [$(($name, false)),*];
            found.into_iter().filter(|(_, present)| *present).map(|(name, _)| name).collect()
        }
    };
}

/// In no level that is offered.
const NO_LEVEL: u8 = 4;

// Those that wasmtime 48 looks for.
features! {
    "sse3" "has_sse3" 2,
    "ssse3" "has_ssse3" 2,
    "cmpxchg16b" "has_cmpxchg16b" 2,
    "sse4.1" "has_sse41" 2,
    "sse4.2" "has_sse42" 2,
    "popcnt" "has_popcnt" 2,
    "avx" "has_avx" 3,
    "avx2" "has_avx2" 3,
    "fma" "has_fma" 3,
    "bmi1" "has_bmi1" 3,
    "bmi2" "has_bmi2" 3,
    "lzcnt" "has_lzcnt" 3,
    "avxvnni" "has_avx_vnni" 4,
    "avx512bitalg" "has_avx512bitalg" 4,
    "avx512dq" "has_avx512dq" 4,
    "avx512f" "has_avx512f" 4,
    "avx512vbmi" "has_avx512vbmi" 4,
    "avx512vl" "has_avx512vl" 4,
    "avx512vnni" "has_avx512vnni" 4,
}

fn up_to(level: u8) -> impl Iterator<Item = &'static (&'static str, &'static str, u8)> {
    FEATURES.iter().filter(move |(_, _, first)| *first <= level)
}

pub(crate) fn features(level: CpuLevel) -> Vec<&'static str> {
    match level {
        CpuLevel::Native => detected(),
        other => up_to(number(other)).map(|(name, _, _)| *name).collect(),
    }
}

/// Cranelift's flags for a level that is not [`CpuLevel::Native`].
pub(crate) fn flags(level: CpuLevel) -> impl Iterator<Item = &'static str> {
    up_to(number(level)).map(|(_, flag, _)| *flag)
}

const fn number(level: CpuLevel) -> u8 {
    match level {
        CpuLevel::Baseline => 1,
        CpuLevel::X86_64V2 => 2,
        CpuLevel::X86_64V3 => 3,
        CpuLevel::Native => NO_LEVEL,
    }
}

/// The highest level that this machine has; `None` below all of them, and on other architectures.
#[must_use]
pub fn detected_cpu_level() -> Option<CpuLevel> {
    let detected = detected();
    [CpuLevel::X86_64V3, CpuLevel::X86_64V2]
        .into_iter()
        .find(|level| features(*level).iter().all(|feature| detected.contains(feature)))
}

//! The files and the commands of the C and C++ toolchain. `veriplay-sandbox` builds it of them, and runs it.

/// The manifest: where the compiler comes from, and limits.
pub const MANIFEST: &str = include_str!("../sandbox.toml");

/// The fuel of a second of a limit on compiling: about what a core compiles in one. The manifest's `[compiler]` has ten of them, and a program with
/// streams, sorting and maps takes 0.6 to 0.7.
pub const COMPILER_FUEL_PER_SECOND: u64 = 20_000_000_000;

/// The header `bits/stdc++.h`, which lies at [`HEADER_AT`].
pub const HEADER: &str = include_str!("../stdc++.h");

/// The header `testlib.h` of checkers, which lies at [`TESTLIB_AT`]. It is no part of what a build makes.
pub const TESTLIB: &str = include_str!("../testlib.h");

/// The place of [`TESTLIB`], below the sysroot.
pub const TESTLIB_AT: &str = "include/veriplay/testlib.h";

/// Where the sysroot lies.
pub const SYSROOT_AT: &str = "/usr";

/// The place of [`HEADER`], below the sysroot.
pub const HEADER_AT: &str = "include/veriplay/bits/stdc++.h";

/// The directory of what the build makes, below the sysroot.
pub const BUILT_AT: &str = "lib/veriplay";

/// Programs with the results that they must have, by file. The README says how they are written.
pub const CASES: &[(&str, &str)] = &[
    ("c.txt", include_str!("../cases/c.txt")),
    ("ends.txt", include_str!("../cases/ends.txt")),
    ("errors.txt", include_str!("../cases/errors.txt")),
    ("programs.txt", include_str!("../cases/programs.txt")),
];

/// A command that runs with the working directory `/work`: the words of its argument list, each with a zero byte at its end. The first word
/// chooses the tool.
pub type Command = &'static [&'static [u8]];

macro_rules! command {
    ($($word:literal)*) => { &[$(concat!($word, "\0").as_bytes()),*] };
}

macro_rules! clang {
    ($($word:literal)*) => {
        command!(
            "clang" "-cc1" "-triple" "wasm32-unknown-wasip1" "-target-cpu" "generic" "-resource-dir" "/usr" "-isysroot" "/usr"
            "-working-directory" "/work" "-O2" "-vectorize-loops" "-vectorize-slp" "-disable-free" "-clear-ast-before-backend"
            "-mrelocation-model" "static" "-mframe-pointer=none" "-mconstructor-aliases" "-fvisibility=hidden"
            "-ffp-contract=off" "-fgnuc-version=4.2.1" "-ferror-limit" "20" "-w" "-D" "ONLINE_JUDGE"
            "-D" "_WASI_EMULATED_PROCESS_CLOCKS" "-D" "_WASI_EMULATED_SIGNAL" "-D" "_WASI_EMULATED_MMAN" "-D" "_WASI_EMULATED_GETPID"
            $($word)*
        )
    };
}

macro_rules! clang_cpp {
    ($($word:literal)*) => {
        clang!(
            "-std=gnu++20" "-fdeprecated-macro" "-fcxx-exceptions" "-fexceptions" "-fignore-exceptions"
            "-internal-isystem" "/usr/include/veriplay" "-internal-isystem" "/usr/include/wasm32-wasip1/c++/v1"
            "-internal-isystem" "/usr/include/c++/v1" "-internal-isystem" "/usr/include"
            "-internal-isystem" "/usr/include/wasm32-wasip1"
            $($word)*
        )
    };
}

macro_rules! clang_c {
    ($($word:literal)*) => {
        clang!(
            "-std=gnu17" "-Wno-error=implicit-int" "-Wno-error=implicit-function-declaration" "-Wno-error=int-conversion"
            "-Wno-error=incompatible-pointer-types" "-internal-isystem" "/usr/include"
            "-internal-isystem" "/usr/include/wasm32-wasip1" "-emit-obj" "-x" "c"
            $($word)*
        )
    };
}

/// An object that programs are linked with.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    /// The file that programs are linked with.
    pub name: &'static str,
    /// The file of its source.
    pub source_name: &'static str,
    /// The text of its source file.
    pub source: &'static str,
    /// The command that makes it of its source.
    pub make: Command,
}

/// All of them. The first is part of every program; of the others a program has what it uses.
pub const OBJECTS: [Object; 3] = [
    Object {
        name: "runtime.o",
        source_name: "runtime.c",
        source: include_str!("../runtime.c"),
        make: clang_c!("-o" "runtime.o" "runtime.c"),
    },
    Object {
        name: "iostream.o",
        source_name: "iostream.cpp",
        source: include_str!("../iostream.cpp"),
        make: clang_cpp!("-emit-obj" "-x" "c++" "-o" "iostream.o" "iostream.cpp"),
    },
    Object {
        name: "templates.o",
        source_name: "templates.cpp",
        source: include_str!("../templates.cpp"),
        make: clang_cpp!("-emit-obj" "-x" "c++" "-o" "templates.o" "templates.cpp"),
    },
];

/// Makes the precompiled header `cpp.pch` of [`HEADER`].
pub const MAKE_HEADER: Command = clang_cpp!(
    "-emit-pch" "-fpch-instantiate-templates" "-fno-pch-timestamp" "-x" "c++-header" "-o" "cpp.pch"
    "/usr/include/veriplay/bits/stdc++.h"
);

/// Makes `program.o` of `program.cpp`, C++20.
pub const COMPILE_CPP: Command =
    clang_cpp!("-include-pch" "/usr/lib/veriplay/cpp.pch" "-emit-obj" "-x" "c++" "-o" "program.o" "program.cpp");

/// Makes `program.o` of `program.c`, C17.
pub const COMPILE_C: Command = clang_c!("-o" "program.o" "program.c");

/// Makes `program.wasm` of `program.o` and the libraries.
pub const LINK: Command = command!(
    "wasm-ld" "-m" "wasm32" "--gc-sections" "--strip-all" "--stack-first" "-z" "stack-size=67108864"
    "-L/usr/lib/wasm32-unknown-wasip1" "-L/usr/lib/wasm32-wasip1" "/usr/lib/wasm32-wasip1/crt1-command.o"
    "/work/program.o" "/usr/lib/veriplay/runtime.o"
    "--start-lib" "/usr/lib/veriplay/iostream.o" "/usr/lib/veriplay/templates.o" "--end-lib" "-lc++" "-lc++abi" "-lc-printscan-long-double"
    "-lwasi-emulated-process-clocks" "-lwasi-emulated-signal" "-lwasi-emulated-mman" "-lwasi-emulated-getpid"
    "-lc" "-lclang_rt.builtins" "-o" "/work/program.wasm"
);

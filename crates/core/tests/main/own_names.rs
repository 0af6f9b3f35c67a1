//! Names in JavaScript: one's own do not count in a fingerprint, and those of globals and of properties do.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use veriplay_core::{Digest, JAVASCRIPT, Language};

/// Programs with names of their own, `@0` to `@2`, a global, `#`, and a property, `%`.
const PROGRAMS: [&str; 6] = [
    "function f(@0) { const @1 = #(@0); return @1.% }",
    "const @2 = (@0, { %: @1 = 2 }) => #.%(@0, ...@1);\nfunction f(x) { return @2(x, {}) }",
    "function @2([@0, @1]) { for (const x of @0) { @1.push({ %: #(x) }) } return @1 }\nfunction f(x) { return @2(x) }",
    "function f(@0) { let @1 = #; try { @1 = @0?.% } catch (@2) { @1 = @2 } return @1 }",
    "function @2(@0) { return @0.% }\nconst f = (@1) => #.%(@2(@1))",
    "function f(x) { let @0 = 0, @1; while (@0 < x.%) { @1 = #(@0); @0 += 1 } return ((@2) => @2 + @1)(x) }",
];

const GLOBALS: [&str; 8] = ["Math", "JSON", "Number", "String", "parseInt", "isNaN", "Object", "console"];
const PROPERTIES: [&str; 6] = ["max", "min", "size", "length", "keys", "has"];

fn fill(program: &str, own: &[String; 3], global: &str, property: &str) -> String {
    let program = program.replace('#', global).replace('%', property);
    program.replace("@0", &own[0]).replace("@1", &own[1]).replace("@2", &own[2])
}

fn fingerprint(program: &str) -> Digest {
    JAVASCRIPT.fingerprint(program)
}

/// Three different names that are no others of the programs, no globals and no words of the language: those have no underscore behind a letter.
fn own_names() -> impl Strategy<Value = [String; 3]> {
    let name = "[a-z]{1,3}_[a-zA-Z0-9_$]{0,3}";
    [name, name, name].prop_filter("equal names", |names: &[String; 3]| {
        names[0] != names[1] && names[1] != names[2] && names[0] != names[2]
    })
}

/// Three different names, which may be those of globals and of properties.
fn any_names() -> impl Strategy<Value = [String; 3]> {
    let pool: Vec<&str> = GLOBALS.into_iter().chain(PROPERTIES).chain(["a", "b"]).collect();
    Just(pool).prop_shuffle().prop_map(|pool| [0, 1, 2].map(|at| pool[at].to_owned()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn other_names_of_ones_own_make_no_other_program(
        program in select(PROGRAMS.to_vec()),
        own in own_names(),
        renamed in own_names(),
        global in select(GLOBALS.to_vec()),
        property in select(PROPERTIES.to_vec()),
    ) {
        let [one, other] = [own, renamed].map(|names| fill(program, &names, global, property));
        prop_assert_eq!(fingerprint(&one), fingerprint(&other), "{}\n{}", one, other);
    }

    #[test]
    fn another_global_or_property_makes_another_program_whatever_ones_own_names_are(
        program in select(PROGRAMS.to_vec()),
        own in any_names(),
        renamed in any_names(),
        globals in select(GLOBALS.to_vec()).prop_flat_map(|one| (Just(one), select(GLOBALS.to_vec()))),
        properties in select(PROPERTIES.to_vec()).prop_flat_map(|one| (Just(one), select(PROPERTIES.to_vec()))),
    ) {
        prop_assume!(globals.0 != globals.1 || properties.0 != properties.1);
        let one = fill(program, &own, globals.0, properties.0);
        let other = fill(program, &renamed, globals.1, properties.1);
        prop_assert_ne!(fingerprint(&one), fingerprint(&other), "{}\n{}", one, other);
    }

    #[test]
    fn another_of_ones_own_names_in_one_place_makes_another_program(
        program in select(PROGRAMS.to_vec()),
        own in own_names(),
        at in any::<Index>(),
    ) {
        let one = fill(program, &own, "Math", "max");
        // One use of the first name becomes one of the second.
        let places: Vec<usize> = program.match_indices("@0").map(|(place, _)| place).skip(1).collect();
        let place = places[at.index(places.len())];
        let changed = [&program[..place], "@1", &program[place + 2..]].concat();
        let other = fill(&changed, &own, "Math", "max");
        prop_assert_ne!(fingerprint(&one), fingerprint(&other), "{}\n{}", one, other);
    }
}

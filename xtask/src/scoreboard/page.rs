//! The scoreboard as a page: `scoreboard.md`, whose main tables `docs/measurements.md` has.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::results::{Counts, Measurements, PeerOutcome, PeerResult, Scoreboard, UnderLoad};

/// What stands before the tables.
const INTRODUCTION: &str = include_str!("../../../benches/scoreboard/introduction.md");

/// What a cell says where a peer does not claim the thing.
const NOT_CLAIMED: &str = "not claimed";

/// The whole page.
#[must_use]
pub fn markdown(scoreboard: &Scoreboard) -> String {
    let machine = &scoreboard.machine;
    let mut out = INTRODUCTION.to_owned();
    let _ = write!(
        out,
        "\nMeasured on {} × {}, {} MiB, {}. Dates and loads of each peer are below.\n",
        machine.processors, machine.processor, machine.memory_mib, machine.kernel
    );
    let measured: Vec<(&PeerResult, &Measurements)> = scoreboard.peers.iter().filter_map(measurements).collect();
    let absent = scoreboard.peers.iter().filter(|peer| measurements(peer).is_none());
    out += &isolation_table(&measured);
    out += &speed_table(&measured);
    out += &cost_table(&measured);
    out += &class_table(&measured);
    out += "\n## The peers\n";
    for (peer, numbers) in &measured {
        out += &describe(peer, numbers);
    }
    for peer in absent {
        if let PeerOutcome::Absent(why) = &peer.outcome {
            let _ = write!(out, "\n### {}\n\nNot measured: {why} ({}).\n", peer.title, peer.date);
        }
    }
    out
}

fn measurements(peer: &PeerResult) -> Option<(&PeerResult, &Measurements)> {
    match &peer.outcome {
        PeerOutcome::Measured(numbers) => Some((peer, numbers)),
        PeerOutcome::Absent(_) => None,
    }
}

fn table(heading: &str, columns: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut out = format!("\n## {heading}\n\n| {} |\n|---|", columns.join(" | "));
    out += &"---:|".repeat(columns.len() - 1);
    for row in rows {
        let _ = write!(out, "\n| {} |", row.join(" | "));
    }
    out + "\n"
}

fn isolation_table(measured: &[(&PeerResult, &Measurements)]) -> String {
    let columns = [
        "sandbox", "probes of claimed classes", "all probes", "fresh state", "CPU limit", "memory limit",
        "reproducible fuel limit",
    ];
    let rows = measured.iter().map(|(peer, numbers)| {
        let classes = &numbers.isolation.classes;
        let claimed = classes.iter().filter(|(class, _)| peer.claims.contains(class)).map(|(_, counts)| *counts);
        let claimed = claimed.fold(Counts::default(), Counts::plus);
        let limits =
            [("cpu", &numbers.metering.cpu), ("memory", &numbers.metering.memory), ("fuel", &numbers.metering.fuel)];
        let claimed = if claimed.total() == 0 { NOT_CLAIMED.to_owned() } else { probes_cell(claimed) };
        let mut row = vec![peer.title.clone(), claimed, probes_cell(numbers.isolation.all), fresh_cell(peer, numbers)];
        row.extend(
            limits.map(|(meter, limit)| claim_cell(peer.meters.iter().any(|one| one == meter), yes_no(limit.holds))),
        );
        row
    });
    table("Isolation, state and limits", &columns, rows)
}

/// Contained of all, and those that could not run, which are neither contained nor escapes.
fn probes_cell(counts: Counts) -> String {
    let mut cell = format!("{} of {}", counts.contained, counts.total());
    if counts.unclear > 0 {
        let _ = write!(cell, " ({} not run)", counts.unclear);
    }
    cell
}

fn yes_no(holds: bool) -> &'static str {
    if holds { "yes" } else { "**no**" }
}

/// What was found; where nothing is claimed and nothing found, that alone.
fn claim_cell(is_claimed: bool, found: &str) -> String {
    match (is_claimed, found) {
        (true, found) => found.to_owned(),
        (false, "yes") => format!("yes ({NOT_CLAIMED})"),
        (false, _) => NOT_CLAIMED.to_owned(),
    }
}

fn fresh_cell(peer: &PeerResult, numbers: &Measurements) -> String {
    let found = &numbers.fresh_state.found;
    match (found.is_empty(), peer.claims_fresh_state) {
        (true, is_claimed) => claim_cell(is_claimed, "yes"),
        (false, true) => format!("**no**: {}", found.join(", ")),
        (false, false) => format!("{NOT_CLAIMED}; keeps {}", found.join(", ")),
    }
}

fn speed_table(measured: &[(&PeerResult, &Measurements)]) -> String {
    let columns = [
        "sandbox",
        "programs/s",
        "Veriplay in threads is",
        "with 2 in flight",
        "Veriplay is",
        "p50",
        "p99",
        "wrong of programs, 64 in flight",
        "failed or unanswered",
    ];
    let rows = measured.iter().map(|(peer, numbers)| {
        let (one, two, load) = (&numbers.sequential, &numbers.two_in_flight, &numbers.under_load);
        let ratio = |ratio: f64| if ratio < 10.0 { format!("{ratio:.2} ×") } else { format!("{ratio:.0} ×") };
        vec![
            peer.title.clone(),
            rate(one.programs_per_second),
            ratio(one.reference_ratio),
            rate(two.programs_per_second),
            ratio(two.reference_ratio),
            milliseconds(one.p50_us),
            milliseconds(one.p99_us) + if one.programs < 100 { " (longest)" } else { "" },
            wrong_cell(load),
            (load.failed + load.unanswered).to_string(),
        ]
    });
    table("Speed, and right answers under load", &columns, rows)
}

fn wrong_cell(load: &UnderLoad) -> String {
    let wrong = if load.wrong == 0 { "0".to_owned() } else { format!("**{}**", load.wrong) };
    let fewer = if load.in_flight == 64 { String::new() } else { format!(" ({} in flight)", load.in_flight) };
    format!("{wrong} of {}{fewer}", load.programs)
}

fn rate(programs_per_second: f64) -> String {
    match programs_per_second {
        rate if rate < 10.0 => format!("{rate:.2}"),
        rate if rate < 100.0 => format!("{rate:.1}"),
        rate => format!("{rate:.0}"),
    }
}

fn milliseconds(us: f64) -> String {
    match us / 1000.0 {
        ms if ms < 10.0 => format!("{ms:.2} ms"),
        ms => format!("{ms:.0} ms"),
    }
}

fn cost_table(measured: &[(&PeerResult, &Measurements)]) -> String {
    let columns = ["sandbox", "set-up", "start to first answer", "memory idle", "memory per program in flight"];
    let rows = measured.iter().map(|(peer, numbers)| {
        let memory = &numbers.memory;
        vec![
            peer.title.clone(),
            format!("{:.1} s", numbers.install_seconds),
            format!("{:.2} s", numbers.start_seconds),
            format!("{:.0} MiB", memory.idle_mib),
            format!("{:.0} MiB", memory.per_program_mib),
        ]
    });
    table("Set-up and memory", &columns, rows)
}

fn class_table(measured: &[(&PeerResult, &Measurements)]) -> String {
    let mut totals: BTreeMap<&String, usize> = BTreeMap::new();
    for (class, counts) in measured.iter().flat_map(|(_, numbers)| &numbers.isolation.classes) {
        totals.insert(class, counts.total());
    }
    let headings: Vec<String> = totals.iter().map(|(class, total)| format!("`{class}` ({total})")).collect();
    let columns: Vec<&str> = std::iter::once("sandbox").chain(headings.iter().map(String::as_str)).collect();
    let rows = measured.iter().map(|(peer, numbers)| {
        let cell = |class: &String| {
            let counts = numbers.isolation.classes.get(class).copied().unwrap_or_default();
            let is_claimed = peer.claims.contains(class);
            let not_run = if counts.unclear > 0 { format!(", {} not run", counts.unclear) } else { String::new() };
            let cell = format!("{}{not_run}", counts.contained);
            if is_claimed { cell } else { format!("{NOT_CLAIMED} ({cell})") }
        };
        std::iter::once(peer.title.clone()).chain(totals.keys().map(|class| cell(class))).collect()
    });
    table("Probes contained, by class", &columns, rows)
}

fn describe(peer: &PeerResult, numbers: &Measurements) -> String {
    let mut out = format!("\n### {}\n\n{}\n\n", peer.title, peer.configured);
    let [before, after] = numbers.load;
    let (one, metering) = (&numbers.sequential, &numbers.metering);
    let _ = writeln!(
        out,
        "- Version: {}. Measured {} UTC, at a load of {before:.1} to {after:.1}.",
        numbers.version, peer.date
    );
    let _ = writeln!(out, "- Command: `{}`", peer.command);
    let _ = writeln!(out, "- Isolation: `{}`, {:.0} s", numbers.isolation.command, numbers.isolation.seconds);
    if !numbers.isolation.escapes.is_empty() {
        let escapes: Vec<String> = numbers.isolation.escapes.iter().map(|id| id.replace('/', ": ")).collect();
        let _ = writeln!(out, "- Escapes: {}", escapes.join("; "));
    }
    if let Some(own) = &numbers.own_suite {
        let _ = writeln!(
            out,
            "- Its own suite, with each probe's own limits: {} (`{}`)",
            probes_cell(own.all),
            own.command
        );
    }
    for (name, limit) in [("CPU", &metering.cpu), ("Memory", &metering.memory), ("Fuel", &metering.fuel)] {
        let _ = writeln!(out, "- {name}: {}.", limit.evidence);
    }
    let _ = writeln!(
        out,
        "- Speed: {} programs one after another, spread of the rounds {:.0} %, {} not right.",
        one.programs, one.spread_percent, one.not_right
    );
    if let Some(example) = &numbers.under_load.example {
        let _ = writeln!(out, "- Under load, the first answer that was not right: {}.", example.replace('`', "'"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_claimed_is_not_held_against_a_peer() {
        assert_eq!(claim_cell(true, yes_no(false)), "**no**");
        assert_eq!(claim_cell(false, yes_no(false)), "not claimed");
        assert_eq!(claim_cell(false, yes_no(true)), "yes (not claimed)");
    }

    #[test]
    fn a_probe_that_could_not_run_is_shown_apart() {
        assert_eq!(probes_cell(Counts { contained: 3, escaped: 0, unclear: 4 }), "3 of 7 (4 not run)");
        assert_eq!(probes_cell(Counts { contained: 3, escaped: 1, unclear: 0 }), "3 of 4");
    }
}

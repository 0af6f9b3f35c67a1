"""The page of a scoreboard, whose main tables docs/measurements.md has."""

from pathlib import Path

from measure import METERS

NOT_CLAIMED = "not claimed"
# Callers at once, where a peer can bear them.
IN_FLIGHT = 64
ISOLATION = "probes of claimed classes | all probes | fresh state | CPU limit | memory limit | reproducible fuel limit"
SPEED = (
    "programs/s | Veriplay in threads is | with 2 in flight | Veriplay is | p50 | p99 | wrong of programs, 64 in flight | "
    "failed or unanswered"
)
COST = "set-up | start to first answer | memory idle | memory per program in flight"


def page(scoreboard):
    machine, peers = scoreboard["machine"], scoreboard["peers"]
    measured = [(peer, peer["measured"]) for peer in peers if "measured" in peer]
    classes = {name: sum(one.values()) for _, numbers in measured for name, one in numbers["isolation"]["classes"].items()}
    headings = " | ".join(f"`{name}` ({count})" for name, count in sorted(classes.items()))
    where = f"{machine['processors']} × {machine['processor']}, {machine['memory_mib']} MiB, {machine['kernel']}"
    parts = [
        Path(__file__).with_name("introduction.md").read_text(),
        f"Measured on {where}. Dates and loads of each peer are below.\n",
        table("Isolation, state and limits", ISOLATION, measured, isolation_cells),
        table("Speed, and right answers under load", SPEED, measured, speed_cells),
        table("Set-up and memory", COST, measured, cost_cells),
        table("Probes contained, by class", headings, measured, lambda *peer: class_cells(sorted(classes), *peer)),
        "## The peers\n",
        *(description(peer, numbers) for peer, numbers in measured),
        *(f"### {peer['title']}\n\nNot measured: {peer['absent']} ({peer['date']}).\n" for peer in peers if "absent" in peer),
    ]
    return "\n".join(parts)


def table(heading, columns, measured, cells):
    rows = [f"| {' | '.join([peer['title'], *cells(peer, numbers)])} |\n" for peer, numbers in measured]
    return f"## {heading}\n\n| sandbox | {columns} |\n|---|{'---:|' * (columns.count(' | ') + 1)}\n{''.join(rows)}"


def isolation_cells(peer, numbers):
    isolation, found = numbers["isolation"], ", ".join(numbers["fresh_state"]["found"])
    claimed = [one for name, one in isolation["classes"].items() if name in peer["claims"]]
    claimed = {verdict: sum(one[verdict] for one in claimed) for verdict in isolation["all"]}
    is_fresh = claim_cell(peer["claims_fresh_state"], not found)
    if found:
        is_fresh += f": {found}" if peer["claims_fresh_state"] else f"; keeps {found}"
    limits = [claim_cell(meter in peer["meters"], numbers["metering"][meter]["holds"]) for meter in METERS]
    return [probes_cell(claimed) if any(claimed.values()) else NOT_CLAIMED, probes_cell(isolation["all"]), is_fresh, *limits]


def probes_cell(counts):
    """Contained of all, and those that could not run, which are neither contained nor escapes."""
    return f"{counts['contained']} of {sum(counts.values())}" + (f" ({counts['unclear']} not run)" if counts["unclear"] else "")


def claim_cell(is_claimed, holds):
    """What was found; where nothing is claimed and nothing found, that alone."""
    if is_claimed:
        return "yes" if holds else "**no**"
    return f"yes ({NOT_CLAIMED})" if holds else NOT_CLAIMED


def speed_cells(_, numbers):
    one, two, load = numbers["sequential"], numbers["two_in_flight"], numbers["under_load"]
    wrong = f"**{load['wrong']}**" if load["wrong"] else "0"
    return [
        *(significant(one["programs_per_second"], 1), significant(one["reference_ratio"]) + " ×"),
        *(significant(two["programs_per_second"], 1), significant(two["reference_ratio"]) + " ×"),
        significant(one["p50_us"] / 1000) + " ms",
        significant(one["p99_us"] / 1000) + " ms" + (" (longest)" if one["programs"] < 100 else ""),
        f"{wrong} of {load['programs']}" + ("" if load["in_flight"] == IN_FLIGHT else f" ({load['in_flight']} in flight)"),
        str(load["failed"] + load["unanswered"]),
    ]


def significant(number, digits_to_100=0):
    return f"{number:.2f}" if number < 10 else f"{number:.{digits_to_100}f}" if number < 100 else f"{number:.0f}"


def cost_cells(_, numbers):
    memory = numbers["memory"]
    seconds = [f"{numbers['install_seconds']:.1f} s", f"{numbers['start_seconds']:.2f} s"]
    return [*seconds, f"{memory['idle_mib']:.0f} MiB", f"{memory['per_program_mib']:.0f} MiB"]


def class_cells(names, peer, numbers):
    cells = []
    for name in names:
        counts = numbers["isolation"]["classes"].get(name, {"contained": 0, "unclear": 0})
        cell = str(counts["contained"]) + (f", {counts['unclear']} not run" if counts["unclear"] else "")
        cells.append(cell if name in peer["claims"] else f"{NOT_CLAIMED} ({cell})")
    return cells


def description(peer, numbers):
    (before, after), isolation, one = numbers["load"], numbers["isolation"], numbers["sequential"]
    lines = [
        f"Version: {numbers['version']}. Measured {peer['date']} UTC, at a load of {before:.1f} to {after:.1f}.",
        f"Command: `{peer['command']}`",
        f"Isolation: `{isolation['command']}`, {isolation['seconds']:.0f} s",
    ]
    if isolation["escapes"]:
        lines.append("Escapes: " + "; ".join(probe.replace("/", ": ") for probe in isolation["escapes"]))
    if own := numbers["own_suite"]:
        lines.append(f"Its own suite, with each probe's own limits: {probes_cell(own['all'])} (`{own['command']}`)")
    lines += [f"{title}: {numbers['metering'][meter]['evidence']}." for meter, title in METERS.items()]
    spread = f"spread of the rounds {one['spread_percent']:.0f} %, {one['not_right']} not right"
    lines.append(f"Speed: {one['programs']} programs one after another, {spread}.")
    if example := numbers["under_load"]["example"]:
        lines.append(f"Under load, the first answer that was not right: {example.replace('`', chr(39))}.")
    return "\n- ".join([f"### {peer['title']}\n\n{peer['configured']}\n", *lines]) + "\n"

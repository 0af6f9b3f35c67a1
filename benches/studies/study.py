#!/usr/bin/env python3
"""Runs a study: arms x seeds of `veriplay play` from one TOML file, then a table, a plot and paired bootstrap intervals.

    python3 benches/studies/study.py STUDY.toml --out DIR [--binary FILE] [--processes 1] [--report]

A run that is complete is never run again, and one that was interrupted is resumed. Every file is under DIR: `ARM/SEED` are run directories,
`results.md` is the table, `results.svg` the plot, `results.json` the numbers. Python 3.11, standard library only.
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import random
import subprocess
import sys
import tomllib

MEASURES = ("pass1", "greedy", "pass8", "pass64")
LABELS = {"pass1": "pass@1", "greedy": "greedy", "pass8": "pass@8", "pass64": "pass@64"}
RESAMPLES = 2_000
# Steps at the end of a run that its closing rates are means of.
CLOSING_STEPS = 40


class StudyError(Exception):
    """The study file is wrong, or a run failed."""


def read_study(path):
    with open(path, "rb") as file:
        study = tomllib.load(file)
    known = {"title", "question", "metric", "baseline", "config", "seeds", "set", "arms"}
    for key in study:
        if key not in known:
            raise StudyError(f"{path}: unknown key `{key}`: use {', '.join(sorted(known))}")
    for key in ("title", "metric", "baseline", "seeds", "arms"):
        if key not in study:
            raise StudyError(f"{path}: the key `{key}` is missing")
    if not study["arms"] or not study["seeds"]:
        raise StudyError(f"{path}: a study has at least one arm and one seed")
    if study["baseline"] not in study["arms"]:
        raise StudyError(f"{path}: `baseline` is `{study['baseline']}`, and the arms are {', '.join(study['arms'])}")
    table, _, measure = study["metric"].rpartition(".")
    if table not in ("main", "depth") or measure not in MEASURES:
        raise StudyError(f"{path}: `metric` is `{study['metric']}`: use `main.pass1`, `depth.pass8` and the like")
    for name, arm in study["arms"].items():
        unknown = set(arm) - {"config", "set", "about"}
        if unknown:
            raise StudyError(f"{path}: arm `{name}` has the unknown key `{unknown.pop()}`: use config, set or about")
    return study


def play(study, arm, seed, folder, binary):
    """Plays one run to its end. Returns nothing: what it came to is in its directory."""
    if (folder / "after.json").exists():
        return
    own = study["arms"][arm]
    if (folder / "last_checkpoint.json").exists():
        command = [binary, "play", "-q", "--resume", str(folder)]
    else:
        # A run that never reached a checkpoint has nothing to go on from.
        if folder.exists():
            folder.rename(folder.with_name(f"{folder.name}.cut{random.getrandbits(32):08x}"))
        folder.parent.mkdir(parents=True, exist_ok=True)
        command = [binary, "play", "-q", "--seed", str(seed), "--out", str(folder)]
        config = own.get("config", study.get("config"))
        command += ["--config", config] if config else []
        for change in [*study.get("set", []), *own.get("set", [])]:
            command += ["--set", change]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as error:
        raise StudyError(f"cannot run `{binary}`: {error}; name the program by --binary") from error
    if done.returncode != 0:
        raise StudyError(f"arm `{arm}`, seed {seed}: exit code {done.returncode} of `{' '.join(command)}`\n{done.stderr[-2000:]}")


def run_all(study, out, binary, processes):
    # Seeds outside, so that a study that is stopped has whole rows of arms.
    jobs = [(arm, seed) for seed in study["seeds"] for arm in study["arms"]]
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        waiting = {pool.submit(play, study, arm, seed, out / arm / str(seed), binary): (arm, seed) for arm, seed in jobs}
        for number, future in enumerate(concurrent.futures.as_completed(waiting), 1):
            future.result()
            arm, seed = waiting[future]
            print(f"{number} of {len(jobs)}: arm `{arm}`, seed {seed}", file=sys.stderr, flush=True)


def pass_at_k(samples, solved, k):
    """The unbiased estimate of pass@k (Chen et al., arXiv 2107.03374, equation 1)."""
    if samples - solved < k:
        return 1.0
    return 1.0 - math.prod((samples - solved - i) / (samples - i) for i in range(k))


class Table:
    """One table of an evaluation: of each row and each measure one number a task."""

    def __init__(self, table):
        counts = table["counts"]
        self.set, self.names = counts["set"], [row["row"] for row in table["rows"]]
        self.rows = []
        for row in counts["rows"]:
            of = {"greedy": [float(one) for one in row["greedy"]]}
            for measure, k in (("pass1", 1), ("pass8", 8), ("pass64", 64)):
                if counts["samples"] >= k:
                    of[measure] = [pass_at_k(counts["samples"], solved, k) for solved in row["solved"]]
            self.rows.append(of)

    def measures(self):
        return [measure for measure in MEASURES if all(measure in row for row in self.rows)]

    def row_means(self, measure):
        return [sum(row[measure]) / len(row[measure]) for row in self.rows]

    def mean(self, measure):
        means = self.row_means(measure)
        return sum(means) / len(means)


class Run:
    """A finished run: its evaluations before and after, and what its events say."""

    def __init__(self, folder):
        def tables(name):
            whole = json.loads((folder / name).read_text())
            return {"main": Table(whole)} | {key: Table(table) for key, table in whole.get("further", {}).items()}

        self.before, self.after = tables("before.json"), tables("after.json")
        events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
        steps = [event for event in events if "actor/loss" in event]
        timing = [json.loads(line) for line in (folder / "timing.jsonl").read_text().splitlines()]
        self.seconds = sum(step["play_s"] + step["update_s"] for step in timing)
        self.tokens = sum(step["perf/total_num_tokens"] for step in steps)
        self.closing = {}
        for key in ("play/own_tasks", "play/proposer_signal", "actor/entropy"):
            values = [step[key] for step in steps if step.get(key) is not None]
            values = values if key.startswith("play/") else values[-CLOSING_STEPS:]
            self.closing[key] = sum(values) / len(values) if values else None
        roles = [role for step in steps[-CLOSING_STEPS:] for role in (step.get("play") or {}).get("roles", [])]
        for key, kind, rate in (("valid", "proposer", "valid_rate"), ("solved", "solver", "solve_rate")):
            values = [role[rate] for role in roles if role["role"] == kind and role.get(rate) is not None]
            self.closing[key] = sum(values) / len(values) if values else None


def read_runs(study, out):
    runs = {}
    for arm in study["arms"]:
        for seed in study["seeds"]:
            folder = out / arm / str(seed)
            if (folder / "after.json").exists():
                runs.setdefault(arm, {})[seed] = Run(folder)
    return runs


def paired_difference(ours, others, measure):
    """The mean difference of two lists of tables, paired by seed and by task, with its 95 % interval: seeds and tasks are both resampled."""
    differences = []
    for own, other in zip(ours, others):
        if own.set != other.set:
            raise StudyError("two runs of the study were evaluated on different tasks")
        differences.append([[a - b for a, b in zip(x[measure], y[measure])] for x, y in zip(own.rows, other.rows)])
    value = sum(sum(sum(row) / len(row) for row in rows) / len(rows) for rows in differences) / len(differences)
    generator, means = random.Random(0), []
    seeds, rows = range(len(differences)), range(len(differences[0]))
    # Of each row one column a task, with one difference a seed.
    columns = [list(zip(*(differences[seed][row] for seed in seeds))) for row in rows]
    for _ in range(RESAMPLES):
        drawn = generator.choices(seeds, k=len(seeds))
        total = 0.0
        for of_row in columns:
            tasks = generator.choices(of_row, k=len(of_row))
            total += sum(task[seed] for seed in drawn for task in tasks) / len(tasks)
        means.append(total / len(drawn) / len(columns))
    means.sort()
    return value, means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def percent(value, digits=1):
    return "–" if value is None else f"{100 * value:.{digits}f}"


def interval_text(difference):
    value, low, high = (100 * number for number in difference)
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"


def summarise(study, runs):
    """Everything that is told, as plain numbers."""
    result = {"title": study["title"], "metric": study["metric"], "baseline": study["baseline"], "arms": {}}
    base = runs.get(study["baseline"], {})
    for arm, of_arm in runs.items():
        told = {"seeds": sorted(of_arm), "tables": {}}
        for name in next(iter(of_arm.values())).after:
            table = {}
            for measure in next(iter(of_arm.values())).after[name].measures():
                seeds = sorted(of_arm)
                table[measure] = {
                    "before": mean([of_arm[seed].before[name].mean(measure) for seed in seeds]),
                    "after": mean([of_arm[seed].after[name].mean(measure) for seed in seeds]),
                    "gain": paired_difference(
                        [of_arm[seed].after[name] for seed in seeds], [of_arm[seed].before[name] for seed in seeds], measure
                    ),
                    "rows_before": [mean(rows) for rows in zip(*(of_arm[seed].before[name].row_means(measure) for seed in seeds))],
                    "rows_after": [mean(rows) for rows in zip(*(of_arm[seed].after[name].row_means(measure) for seed in seeds))],
                }
                both = [seed for seed in seeds if seed in base]
                if arm != study["baseline"] and both:
                    table[measure]["against_baseline"] = paired_difference(
                        [of_arm[seed].after[name] for seed in both], [base[seed].after[name] for seed in both], measure
                    )
            told["tables"][name] = table
        told["names"] = {name: table.names for name, table in next(iter(of_arm.values())).after.items()}
        told["seconds"] = mean([run.seconds for run in of_arm.values()])
        told["tokens"] = mean([run.tokens for run in of_arm.values()])
        told["closing"] = {key: mean([run.closing[key] for run in of_arm.values()]) for key in next(iter(of_arm.values())).closing}
        result["arms"][arm] = told
    return result


def markdown(study, result):
    lines = [f"# {study['title']}", ""]
    lines += [study["question"], ""] if "question" in study else []
    table_name, _, metric = study["metric"].rpartition(".")
    base = study["baseline"]
    lines += [f"Metric, named before the runs: {LABELS[metric]} on the table `{table_name}`, against the arm `{base}`. Percent; intervals are 95 %, "
              f"by {RESAMPLES:,} resamples of seeds and tasks.", ""]
    lines += [f"| arm | seeds | {LABELS[metric]} | against `{base}` | gain over the start | pass@8 over the start | own tasks | proposer's signal "
              "| valid | solved | s | 1,000 tokens |", "|" + "---|" * 12]
    for arm, told in result["arms"].items():
        own = told["tables"][table_name][metric]
        eight = told["tables"][table_name]["pass8"]
        against = interval_text(own["against_baseline"]) if "against_baseline" in own else "–"
        closing = told["closing"]
        lines.append("| " + " | ".join([
            arm, ", ".join(map(str, told["seeds"])), percent(own["after"]), against, interval_text(own["gain"]), interval_text(eight["gain"]),
            percent(closing["play/own_tasks"], 0), percent(closing["play/proposer_signal"]), percent(closing["valid"], 0), percent(closing["solved"], 0),
            f"{told['seconds']:.0f}", f"{told['tokens'] / 1000:,.0f}"]) + " |")
    for name in next(iter(result["arms"].values()))["tables"]:
        measures = list(next(iter(result["arms"].values()))["tables"][name])
        lines += ["", f"Table `{name}`, after the run (start in the first line):", "", "| arm | " + " | ".join(LABELS[m] for m in measures) + " |",
                  "|" + "---|" * (1 + len(measures))]
        first = next(iter(result["arms"].values()))["tables"][name]
        lines.append("| start | " + " | ".join(percent(first[m]["before"]) for m in measures) + " |")
        for arm, told in result["arms"].items():
            cells = []
            for measure in measures:
                own = told["tables"][name][measure]
                cells.append(percent(own["after"]) + (f", {interval_text(own['against_baseline'])}" if "against_baseline" in own else ""))
            lines.append(f"| {arm} | " + " | ".join(cells) + " |")
    lines += depth_rows(result)
    return "\n".join(lines) + "\n"


def depth_rows(result):
    """Mean over the kinds of task at each depth, for each arm."""
    first = next(iter(result["arms"].values()))
    if "depth" not in first["names"]:
        return []
    names = first["names"]["depth"]
    depths = sorted({int(name.rsplit("/", 1)[1]) for name in names})
    lines = []
    for measure in (m for m in ("pass1", "pass8", "pass64") if m in first["tables"]["depth"]):
        def cells(key, told):
            values = told["tables"]["depth"][measure][key]
            return [percent(mean([v for v, n in zip(values, names) if int(n.rsplit("/", 1)[1]) == depth])) for depth in depths]

        lines += ["", f"{LABELS[measure]} by depth (statements of the program):", "", "| arm | " + " | ".join(map(str, depths)) + " |",
                  "|" + "---|" * (1 + len(depths)), "| start | " + " | ".join(cells("rows_before", first)) + " |"]
        lines += [f"| {arm} | " + " | ".join(cells("rows_after", told)) + " |" for arm, told in result["arms"].items()]
    return lines


def plot(study, result):
    """Dots with whiskers: the metric of each arm against the baseline."""
    table_name, _, metric = study["metric"].rpartition(".")
    rows = [(arm, told["tables"][table_name][metric].get("against_baseline", (0.0, 0.0, 0.0))) for arm, told in result["arms"].items()]
    low = min(0.0, *(100 * d[1] for _, d in rows)) - 0.5
    high = max(0.0, *(100 * d[2] for _, d in rows)) + 0.5
    width, left, line = 720, 220, 28
    def x(value):
        return left + (value - low) / (high - low) * (width - left - 20)
    height = line * (len(rows) + 2)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<line x1="{x(0):.1f}" y1="8" x2="{x(0):.1f}" y2="{height - line}" stroke="#888" stroke-dasharray="3 3"/>']
    for index, (arm, difference) in enumerate(rows):
        y = line * (index + 0.8)
        value, least, most = (100 * number for number in difference)
        parts += [f'<text x="8" y="{y + 4:.1f}">{arm}</text>',
                  f'<line x1="{x(least):.1f}" y1="{y:.1f}" x2="{x(most):.1f}" y2="{y:.1f}" stroke="#2563eb" stroke-width="2"/>',
                  f'<circle cx="{x(value):.1f}" cy="{y:.1f}" r="4" fill="#2563eb"/>']
    step = max(1, round((high - low) / 8))
    for tick in range(math.ceil(low), math.floor(high) + 1, step):
        parts.append(f'<text x="{x(tick):.1f}" y="{height - line + 14}" text-anchor="middle">{tick:+d}</text>')
    parts.append(f'<text x="{left}" y="{height - 4}">points of {LABELS[metric]} ({table_name}) against {study["baseline"]}, 95 %</text></svg>')
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--binary", default="veriplay")
    parser.add_argument("--processes", type=int, default=1, help="runs side by side")
    parser.add_argument("--report", action="store_true", help="run nothing, and tell of the runs that are complete")
    arguments = parser.parse_args()
    try:
        study = read_study(arguments.study)
        if not arguments.report:
            run_all(study, arguments.out, arguments.binary, arguments.processes)
        runs = read_runs(study, arguments.out)
        if study["baseline"] not in runs:
            raise StudyError(f"no run of the baseline `{study['baseline']}` is complete in {arguments.out}")
        result = summarise(study, runs)
    except StudyError as error:
        sys.exit(f"error: {error}")
    (arguments.out / "results.json").write_text(json.dumps(result, indent=1) + "\n")
    (arguments.out / "results.md").write_text(markdown(study, result))
    (arguments.out / "results.svg").write_text(plot(study, result))
    print(markdown(study, result))


if __name__ == "__main__":
    main()

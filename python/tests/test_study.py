"""The runner of studies, on tables and runs made by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benches/studies"
sys.path.insert(0, str(FOLDER))

study = pytest.importorskip("study", reason="benches/studies needs Python 3.11", exc_type=ImportError)

STUDY = 'title = "t"\nmetric = "depth.pass1"\nbaseline = "a"\nseeds = [1]\n[arms.a]\n[arms.b]\nset = ["seed=2"]\n'


def table(*rows, digest="x"):
    """Eight samples of each task, of which so many are right."""
    counts = {"set": digest, "samples": 8, "rows": [{"solved": row, "greedy": [0] * len(row)} for row in rows]}
    return study.Table({"rows": [{"row": f"deduction/{index + 1}"} for index in range(len(rows))], "counts": counts})


def test_pass_at_k_is_the_unbiased_estimate():
    assert study.pass_at_k(8, 2, 1) == pytest.approx(0.25)
    assert study.pass_at_k(8, 2, 8) == 1.0
    assert study.pass_at_k(4, 1, 2) == pytest.approx(0.5)


def test_a_difference_is_paired_by_seed_and_task():
    before = [table([0, 6, 4], [2, 6]), table([1, 5, 4], [0, 4])]
    # Two samples more of each task: whatever is resampled, the difference is the same.
    after = [table([2, 8, 6], [4, 8]), table([3, 7, 6], [2, 6])]
    value, low, high = study.paired_difference(after, before, "pass1")
    assert (value, low, high) == pytest.approx((0.25, 0.25, 0.25))
    mixed, low, high = study.paired_difference([table([8, 0, 8, 8])], [table([0, 8, 0, 0])], "pass1")
    assert mixed == pytest.approx(0.5) and low < 0.0 < high
    with pytest.raises(study.StudyError, match="different tasks"):
        study.paired_difference([table([1], digest="x")], [table([1], digest="y")], "pass1")


def test_rows_weigh_the_same_however_many_tasks_they_have():
    assert table([8], [0, 0, 0]).mean("pass1") == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STUDY.replace("seeds", "sedes"), "unknown key `sedes`"),
        (STUDY.replace('baseline = "a"', 'baseline = "c"'), "`baseline` is `c`"),
        (STUDY.replace("depth.pass1", "pass1"), "`metric` is `pass1`"),
        (STUDY.replace("seeds = [1]", "seeds = []"), "at least one arm and one seed"),
        (STUDY.replace("set =", "sets ="), "arm `b` has the unknown key `sets`"),
    ],
)
def test_a_study_that_is_wrong_is_refused_with_what_is_wrong(tmp_path, text, said):
    file = tmp_path / "study.toml"
    file.write_text(text)
    with pytest.raises(study.StudyError, match=said):
        study.read_study(file)


def test_the_studies_of_the_project_can_be_read():
    studies = sorted(FOLDER.glob("*.toml"))
    assert studies
    for file in studies:
        study.read_study(file)


def test_a_complete_run_is_not_played_again_and_a_missing_program_is_named(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    read = study.read_study(file)
    done = tmp_path / "a" / "1"
    done.mkdir(parents=True)
    (done / "after.json").write_text("{}")
    study.play(read, "a", 1, done, "no-such-program")
    with pytest.raises(study.StudyError, match="cannot run `no-such-program`"):
        study.play(read, "b", 1, tmp_path / "b" / "1", "no-such-program")

"""Diagnostics are read as they were written, and only those of the ranked scores."""

import pytest

from campaign import BadInput
from diagnosed import Diagnostics
from kit import DE, EN, find_pair, perfect

RUN = f"team1_{DE}_run1.jsonl"
OTHER = f"team1_{EN}_run1.jsonl"


def folder(campaign):
    return campaign.results / "diagnostics"


def rankings(campaign):
    return campaign.json("system-rankings/rankings.json")


@pytest.fixture
def done(base):
    base.evaluate()
    return base


def refused(read, *arguments):
    with pytest.raises(BadInput) as raised:
        read(*arguments)
    return [problem.text() for problem in raised.value.problems]


def test_a_run_is_loaded_as_it_was_written(done):
    found = Diagnostics(folder(done), rankings(done)).load(RUN)
    assert found == done.json(f"diagnostics/team1_{DE}_run1.diagnostics.json")
    assert found["submission"] == RUN


def test_the_digest_is_of_the_runs_and_their_order(done):
    diagnostics = Diagnostics(folder(done), rankings(done))
    assert diagnostics.digest_of([RUN]) == diagnostics.digest_of(iter([RUN]))
    digests = {diagnostics.digest_of(runs) for runs in ([RUN], [OTHER], [RUN, OTHER], [OTHER, RUN])}
    assert len(digests) == 4


def test_the_digest_follows_the_answers(done):
    before = Diagnostics(folder(done), rankings(done)).digest_of([RUN])
    documents = perfect()
    find_pair(documents, "p1", "l1")["at_explanation"] = "a new one"
    done.run(documents)
    done.evaluate()
    assert Diagnostics(folder(done), rankings(done)).digest_of([RUN]) != before


@pytest.mark.parametrize("damage", ["deleted", "edited"])
def test_what_is_not_as_it_was_written_is_refused(done, damage):
    path = folder(done) / f"team1_{DE}_run1.diagnostics.json"
    path.unlink() if damage == "deleted" else path.write_bytes(b"{}")
    diagnostics = Diagnostics(folder(done), rankings(done))
    assert refused(diagnostics.load, RUN) == [
        f"error: {path.name}: found no diagnostics, or not those that were written; expected those"
        " of the run; run make diagnostics"
    ]
    assert diagnostics.load(OTHER)["submission"] == OTHER


def test_all_runs_that_were_not_diagnosed_are_named(done):
    diagnostics = Diagnostics(folder(done), rankings(done))
    errors = refused(diagnostics.digest_of, ["teamX.jsonl", RUN, "teamY.jsonl"])
    assert [error.split(":")[1].strip() for error in errors] == [
        "teamX.diagnostics.json",
        "teamY.diagnostics.json",
    ]


@pytest.mark.parametrize("stage", ["build_rankings", "build_diagnostics"])
def test_diagnostics_and_rankings_of_different_scores_do_not_go_together(done, stage):
    documents = perfect()
    find_pair(documents, "p1", "l1")["at"] = "FALSE"
    done.run(documents)
    for again in (("validate_jsonl", "submissions"), ("score_one",), (stage,)):
        assert done.script(*again).status == 0
    [error] = refused(Diagnostics, folder(done), rankings(done))
    assert error.endswith("run make rankings diagnostics with the same variables")


def test_a_folder_without_diagnostics_lacks_those_of_each_run(done):
    diagnostics = Diagnostics(done.folder / "nowhere", rankings(done))
    assert len(refused(diagnostics.digest_of, [RUN, OTHER])) == 2

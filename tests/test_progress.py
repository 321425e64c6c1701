"""Progress bars are for terminals: a log or a pipe holds none."""

import sys

import pytest
from tqdm import tqdm

from kit import DE, SURPRISE
from progress import progress


def on_a_terminal(monkeypatch, answer=True):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: answer, raising=False)


def test_without_a_terminal_the_steps_come_as_they_are(monkeypatch, capsys):
    on_a_terminal(monkeypatch, answer=False)
    steps = ["one", "two"]
    given = progress(steps, "scoring")
    assert not isinstance(given, tqdm)
    assert list(given) == steps
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_there_is_a_bar_with_what_is_done_and_how_much(monkeypatch):
    on_a_terminal(monkeypatch)
    bar = progress(["one", "two"], "scoring")
    assert isinstance(bar, tqdm)
    assert (bar.desc.rstrip(": "), bar.total) == ("scoring", 2)
    assert list(bar) == ["one", "two"]


def test_work_of_less_than_a_second_shows_no_bar(monkeypatch, capsys):
    on_a_terminal(monkeypatch)
    assert list(progress(range(3), "scoring")) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")


def test_a_bar_goes_to_standard_error_and_leaves_no_trace(monkeypatch, capsys):
    on_a_terminal(monkeypatch)
    bar = progress(range(3), "scoring")
    bar.delay, bar.start_t = 0, bar.start_t - 2  # as if the work had begun two seconds ago
    bar.refresh()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "scoring" in shown.err
    bar.close()
    assert capsys.readouterr().err.strip("\r \n") == ""


@pytest.mark.parametrize("steps", [[], {}, range(0)])
def test_nothing_to_do_is_no_problem(monkeypatch, steps):
    for answer in (False, True):
        on_a_terminal(monkeypatch, answer)
        assert list(progress(steps, "scoring")) == []


def test_results_are_the_same_with_a_bar(base, monkeypatch):
    base.run(number=2, stem=DE)
    base.evaluate()
    plain = base.tree()
    base.script("clean")
    on_a_terminal(monkeypatch)
    base.evaluate()
    assert base.tree() == plain
    assert base.score(stem=SURPRISE)["scores"]


def test_make_writes_no_bar_into_a_pipe(base):
    done = base.make("eval-full")
    assert done.status == 0
    assert "\r" not in done.out + done.err
    assert "%|" not in done.out + done.err

"""The written results page: links, counts, names, and when it is renewed."""

import json
import os
from urllib.parse import unquote

import pytest

import gfm
from kit import DE, EN, INFO, document, find_pair, gold, pair, perfect

TITLE = "Newspapers, German (test)"
SHOWN = "impresso profile score"
ODD_TEAMS = ["A|B", "my_team_x", "`x`", "*", "<img src=x onerror=1>", "[a](b)", "1e5", "007"]


def sections(campaign):
    return gfm.read(campaign.page.read_text("utf-8"))


def worse(documents):
    find_pair(documents, "p1", "l1")["at"] = "FALSE"
    return documents


def test_every_link_of_the_page_leads_somewhere(base):
    base.run(team="team2")
    base.evaluate()
    assert gfm.broken_links(base.page) == []
    links = {link for each in sections(base).values() for link in each.links}
    linked = {base.page.parent / unquote(link) for link in links if not link.startswith("#")}
    folders = (base.results / "diagnostics", base.results / "system-rankings")
    others = {path.name for folder in folders for path in folder.iterdir() if path not in linked}
    assert others == {"diagnostics.manifest.json", "rankings.manifest.json", "rankings.json"}


def test_links_resolve_between_folders_with_odd_names(base):
    base.results = base.folder / "résultats d'été (1)" / "a%20b#c"
    base.page = base.folder / "out é" / "x y.md"
    base.evaluate()
    assert gfm.broken_links(base.page) == []
    assert str(base.folder) not in base.page.read_text("utf-8")


def test_odd_names_of_teams_show_literally_and_lead_to_their_files(campaign):
    teams = {f"team{number}": name for number, name in enumerate(ODD_TEAMS, 1)}
    campaign.teams = campaign.folder / "teams.json"
    campaign.teams.write_text(json.dumps({team: {"name": name} for team, name in teams.items()}))
    campaign.reference()
    for team in teams:
        campaign.run(team=team)
    done = campaign.make("eval-full")
    assert done.status == 0, done.err
    page = sections(campaign)
    assert page["Teams"].column("Team") == list(ODD_TEAMS)
    assert page[TITLE].column("team") == [f"{name} ({team})" for team, name in teams.items()]
    assert page[TITLE].column(SHOWN) == ["1.0000"] * len(ODD_TEAMS)
    assert gfm.broken_links(campaign.page) == []


def test_counts_on_the_page_add_up_to_the_files_in_the_folder(base):
    for number in (1, 2):
        base.run(team="team2", number=number)
    invalid = worse(perfect())
    find_pair(invalid, "p2", "l2")["at"] = "true"
    base.run(invalid, team="team2", number=3)
    base.run(b"[]\n", team="team1", number=2, info=None)
    base.run(team="team3", info=None)
    base.run(team="team3", number=2)
    (base.systems / f"team3_{DE}_run2.jsonl").unlink()  # leaves an info file alone
    (base.systems / "README.txt").write_text("hello")
    base.skip_invalid = True
    *_, runs, infos, _, _, _, _ = base.evaluate()
    page = sections(base)
    # 4 base runs, 2 of team2 and 1 of team3; 2 invalid runs and the lonely info file.
    assert "runs: 7 valid, 2 errors" in runs.out
    assert "info files: 7 valid, 1 error" in infos.out
    files = os.listdir(base.systems)
    assert len(files) == 18
    line = "The folder of runs holds 18 files: 7 scored, 7 info files read, 3 refused, 1 ignored."
    assert line in page["Files that were left out"].lines
    assert page["Teams"].column("Team") == ["team1", "team2", "team3"]
    assert page["Teams"].column("Run files") == ["4", "2", "1"]
    assert set(page["Files that were left out"].column("Refused file")) == {
        f"team1_{DE}_run2.jsonl",
        f"team2_{DE}_run3.jsonl",
        f"team3_{DE}_run2-info.json",
    }
    ignored = "Ignored, neither run nor info file: README.txt."
    assert ignored in page["Files that were left out"].lines


def test_an_invalid_run_is_named_and_counts_for_nothing(base):
    base.run(worse(perfect()), team="team2")
    invalid = base.run(b"{}\n{}\n", team="team3")
    base.skip_invalid = True
    base.evaluate()
    page = sections(base)
    assert page[TITLE].column("rank") == ["1", "2"]
    assert "team3" not in page[TITLE].text
    [row] = page["Files that were left out"].rows()
    assert row["Refused file"] == invalid.name
    assert row["First error"].startswith("error: line 1: ")


def test_runs_that_differ_in_the_sixth_decimal_have_ranks_of_their_own(campaign):
    def answers(changed=None):
        labels = ["TRUE"] * 334 + ["PROBABLE"] * 333 + ["FALSE"] * 333
        pairs = [pair(f"p{n}", "l1", label, "TRUE") for n, label in enumerate(labels)]
        documents = [document("de-doc-1", "1850", pairs)]
        if changed is not None:
            find_pair(documents, changed, "l1")["at"] = "FALSE"
        return documents

    campaign.reference(DE, answers())
    # One of 334 TRUE missed costs less than one of 333 PROBABLE: 1 / (3 * 334 * 333) = 3e-6,
    # of which the profile, a mean of two targets, shows a half.
    campaign.run(answers("p333"), team="team2")
    campaign.run(answers("p334"), team="team1")
    campaign.evaluate()
    rows = campaign.ranking("impresso-test-de")
    assert [(row["rank"], row["team"]) for row in rows] == [("1", "team2"), ("2", "team1")]
    scores = [float(row["impresso_profile_score"]) for row in rows]
    assert scores == [pytest.approx(1 - 1 / (6 * n), abs=1e-15) for n in (334, 333)]
    assert sections(campaign)[TITLE].column(SHOWN) == ["0.9995", "0.9995"]
    assert sections(campaign)[TITLE].column("rank") == ["1", "2"]


def test_other_ties_renew_the_page(base):
    base.run(team="team2")
    base.run(worse(perfect()), team="team3")
    base.evaluate()
    assert sections(base)[TITLE].column("rank") == ["1", "1", "3"]
    base.ties = "dense"
    base.evaluate()
    assert sections(base)[TITLE].column("rank") == ["1", "1", "2"]
    assert "dense" in sections(base)["Scores and ranks"].text


def test_a_copy_of_a_run_and_partial_participation_are_told(base):
    base.run(number=2)
    base.run(team="team2", stem=EN)
    base.evaluate()
    page = sections(base)
    files = f"team1_{DE}_run1.jsonl and team1_{DE}_run2.jsonl"
    assert f"Note: {files} are identical files." in page[TITLE].lines
    left_out = "Left out: team1 run2: no run for en, fr; team2 run1: no run for de, fr."
    assert left_out in page["Overall accuracy profile (test A)"].lines


def test_a_run_that_opted_out_is_named_in_the_efficiency_tables_only(base):
    for stem in (DE, EN, EN.replace("-en", "-fr")):
        base.run(stem=stem, team="team2", info=INFO | {"team_efficiency_opt_out": True})
    base.evaluate()
    for heading, section in sections(base).items():
        is_efficiency = "fficiency profile" in heading
        assert ("Left out: team2 run1: opted out." in section.lines) == is_efficiency
        if is_efficiency:
            assert section.column("team") == ["team1"]


def test_what_is_said_of_an_opt_out_in_one_language_is_true_of_every_table(base):
    base.run(stem=EN, info=INFO | {"team_efficiency_opt_out": True})
    base.evaluate()
    efficiency = [each for heading, each in sections(base).items() if "fficiency" in heading]
    assert "which counts for all its files" in efficiency[0].text
    assert [each.tables for each in efficiency] == [[]] * 5


def test_an_efficiency_table_that_all_opted_out_of_does_not_blame_missing_files(campaign):
    campaign.reference()
    campaign.run(info=INFO | {"team_efficiency_opt_out": True})
    campaign.evaluate()
    section = sections(campaign)["Efficiency profile by language: newspapers, German (test)"]
    assert "Left out: team1 run1: opted out." in section.lines
    assert "has all files" not in section.text


def test_the_size_shown_is_that_of_the_organizers_and_not_the_words_of_the_team(base):
    sizes = {"hipe_parameter_count": 14_000_000_000, "team_parameter_count": "2 x 7B + adapters"}
    base.run(info=INFO | sizes)
    base.evaluate()
    section = sections(base)["Efficiency profile by language: newspapers, German (test)"]
    assert section.column("hipe parameter count") == ["14,000,000,000"]
    assert "2 x 7B" not in base.page.read_text("utf-8")
    assert base.score()["efficiency_metadata"]["team_parameter_count"] == "2 x 7B + adapters"


def test_a_reference_without_runs_has_a_line_and_no_table(campaign):
    campaign.reference(DE)
    campaign.reference(EN)
    campaign.run()
    campaign.evaluate()
    page = sections(campaign)
    assert page[TITLE].column("team") == ["team1"]
    assert "Newspapers, English (test)" not in page
    line = f"No run for {EN}.jsonl, so it has no table."
    assert line in page["Files that were left out"].lines
    assert gfm.broken_links(campaign.page) == []


def test_without_runs_there_is_a_message_and_no_page(campaign):
    campaign.reference()
    done = campaign.make("eval-full")
    assert done.status != 0
    assert done.errors == [
        f"error: {campaign.systems}: found no runs; expected at least one; put them there as"
        " SUBMISSIONS.md says, or set SUBMISSIONS_DIR; make demo evaluates a sample campaign,"
        " make clean removes results of withdrawn files"
    ]
    assert not campaign.page.exists()


def test_a_new_name_of_a_team_renews_the_page_and_no_ranking(base):
    base.teams = base.folder / "teams.json"
    base.teams.write_text(json.dumps({"team1": {"name": "Old"}}))
    assert base.make("eval-full").status == 0
    rankings = base.results / "system-rankings"
    before = {path: path.stat().st_mtime_ns for path in rankings.iterdir()}
    base.teams.write_text(json.dumps({"team1": {"name": "New"}}))
    assert base.make("eval-full").status == 0
    assert sections(base)[TITLE].column("team") == ["New (team1)"]
    assert {path: path.stat().st_mtime_ns for path in rankings.iterdir()} == before


def test_a_page_that_was_changed_or_removed_is_written_again(base):
    base.evaluate()
    content = base.page.read_bytes()
    base.page.write_bytes(content + b"x")
    said = f"results page: {base.page} written, without intervals (make significance)\n"
    assert base.script("build_results_md").out == said
    assert base.page.read_bytes() == content
    base.page.unlink()
    base.script("build_results_md")
    assert base.page.read_bytes() == content
    assert base.script("build_results_md").out == said.replace("written", "unchanged")


def test_a_page_at_another_place_leaves_the_files_there_alone(base):
    base.evaluate()
    other = base.folder / "docs"
    other.mkdir()
    mine = [other / base.page.name, other / ".draft.tmp"]
    for path in mine:
        path.write_text("mine")
    base.page = other / "page.md"
    base.evaluate()
    assert [path.read_text() for path in mine if path.exists()] == ["mine", "mine"]


@pytest.mark.parametrize("setting", [{"mode": "BINARY"}, {"ties": "dense"}])
def test_rankings_made_with_other_settings_are_refused(base, setting):
    base.evaluate()
    for name, value in setting.items():
        setattr(base, name, value)
    done = base.script("build_results_md")
    assert done.status == 1
    assert done.err.splitlines() == [
        f"error: {base.results}/system-rankings/rankings.json: found rankings made with TERNARY"
        f" labels and competition ties; expected {base.mode} and {base.ties};"
        " run make rankings with the same variables"
    ]


def test_the_page_asks_for_rankings(base):
    base.validate()
    done = base.script("build_results_md")
    assert done.status == 1
    assert done.err.splitlines() == [
        f"error: {base.results}/system-rankings: found no rankings;"
        " expected what an earlier stage writes; run make rankings"
    ]


def test_rankings_of_a_run_that_was_withdrawn_since_are_refused(base):
    base.run(team="team2")
    base.evaluate()
    for path in base.systems.glob("team2_*"):
        path.unlink()
    base.validate()
    base.validate_info()
    done = base.script("build_results_md")
    assert done.status == 1
    assert len(done.errors) == 1


def test_the_page_states_digests_of_what_it_was_made_of(base):
    base.evaluate()
    before = base.page.read_text("utf-8")
    base.run(gold()[::-1])  # the same answers in another order score the same
    base.evaluate()
    changed = [
        (old, new)
        for old, new in zip(
            before.split("\n"), base.page.read_text("utf-8").split("\n"), strict=True
        )
        if old != new
    ]
    assert len(changed) == 1
    assert changed[0][0].startswith("Made by the HIPE-2026 evaluation ")

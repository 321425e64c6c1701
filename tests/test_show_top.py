"""The last words of make demo: the top of the overall ranking, and where to look."""

from kit import DE, EN, FR, find_pair, perfect


def test_the_first_five_of_the_overall_ranking_are_shown(base):
    for number in range(2, 8):
        for stem in (DE, EN, FR):
            documents = perfect(stem)
            find_pair(documents, "p1", "l1")["at"] = "FALSE"
            base.run(documents, team=f"team{number}", stem=stem)
    base.evaluate()
    done = base.script("show_top")
    assert done.status == 0
    assert "Overall accuracy profile (test A), the first 5 of 7 runs" in done.out
    rows = [line.split() for line in done.out.splitlines() if " run1 " in line]
    # at 8/9 and isAt 1 make 17/18.
    assert rows == [
        ["1", "team1", "run1", "1.0000"],
        *(["2", f"team{number}", "run1", "0.9444"] for number in range(2, 6)),
    ]


def test_every_place_that_it_names_exists(base):
    base.evaluate()
    base.infer()
    _, _, places = base.script("show_top").out.partition("Look at\n")
    named = [line.split("   ")[0].strip() for line in places.splitlines()]
    folders = (
        "system-rankings",
        "diagnostics",
        "significance",
        "ensemble",
        "breakdown",
        "validation",
    )
    assert named == [str(base.page), *(f"{base.results}/{folder}/" for folder in folders)]
    assert base.page.is_file()
    assert all((base.results / folder).is_dir() for folder in folders)


def test_without_rankings_it_says_what_to_do(base):
    done = base.script("show_top")
    assert done.status == 1
    assert done.out == ""
    assert done.err.splitlines() == [
        f"error: {base.results}/system-rankings: found no rankings;"
        " expected what an earlier stage writes; run make rankings"
    ]


def test_rankings_that_cannot_be_read_are_an_error_in_one_line(base):
    base.evaluate()
    (base.results / "system-rankings" / "rankings.json").write_text("{")
    done = base.script("show_top")
    assert done.status == 1
    assert len(done.errors) == 1


def test_an_empty_overall_ranking_is_no_failure(campaign):
    campaign.reference(DE)
    campaign.reference(EN)
    campaign.run()
    campaign.evaluate()
    done = campaign.script("show_top")
    assert done.status == 0
    assert str(campaign.page) in done.out

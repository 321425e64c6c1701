"""make clean: what the stages wrote goes, everything else stays."""

FOREIGN = [
    "notes.txt",
    "validation/notes.txt",
    "per-run/mine.json",
    "per-run/.draft.tmp",
    "system-rankings/ranking-mine.tsv",
    "diagnostics/mine.json",
    "mine/ranking-overall-test-a.tsv",
    "gt-validation/reviewed.xlsx",
]


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_all_that_the_stages_wrote_goes_and_the_data_stays(base):
    before = files(base.folder)
    base.evaluate()
    base.infer()
    assert files(base.folder) > before
    assert base.script("clean").status == 0
    assert files(base.folder) == before
    assert not base.results.exists()


def test_foreign_files_survive(base):
    base.evaluate()
    for name in FOREIGN:
        path = base.results / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    assert base.script("clean").status == 0
    assert files(base.results) == set(FOREIGN)


def test_a_page_that_no_stage_wrote_survives(base):
    base.page.write_text("published in another year")
    done = base.script("clean")
    assert (done.status, done.out) == (0, "clean: 0 files removed\n")
    assert base.page.exists()


def test_a_file_in_the_results_folder_that_is_called_like_the_page_survives(base):
    base.evaluate()
    copy = base.results / base.page.name
    copy.write_text("mine")
    assert base.script("clean").status == 0
    assert files(base.results) == {copy.name}
    assert not base.page.exists()


def test_a_page_inside_the_results_folder_goes_with_it(base):
    base.page = base.results / "page.md"
    base.evaluate()
    assert base.script("clean").status == 0
    assert not base.results.exists()


def test_the_number_of_removed_files_is_that_of_the_outputs(base):
    base.evaluate()
    base.infer()
    outputs = [name for name in files(base.results) if not name.endswith(".manifest.json")]
    number = sum(".lock-" not in name for name in outputs) + 1  # and the page
    assert base.script("clean").out == f"clean: {number} files removed\n"
    assert base.script("clean").out == "clean: 0 files removed\n"


def test_what_an_interrupted_stage_left_goes_too(base):
    base.evaluate()
    path = base.results / "per-run" / f".{next(base.results.glob('per-run/team*')).name}.tmp"
    path.write_text("half")
    assert base.script("clean").status == 0
    assert not base.results.exists()


def test_a_file_that_a_user_removed_before_is_no_problem(base):
    base.evaluate()
    (base.results / "system-rankings" / "ranking-overall-test-a.tsv").unlink()
    assert base.script("clean").status == 0
    assert not base.results.exists()


def test_a_manifest_that_cannot_be_read_ends_in_no_traceback(base):
    base.evaluate()
    (base.results / "per-run" / "score.manifest.json").write_text("{")
    done = base.script("clean")
    assert done.status in (0, 1)
    assert (done.status == 1) == bool(done.errors)


def test_after_cleaning_the_same_results_come_again(base):
    base.evaluate()
    before = base.tree()
    base.script("clean")
    base.evaluate()
    assert base.tree() == before

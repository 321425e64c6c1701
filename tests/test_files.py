"""Files are written whole or not at all, and tables come back as they were."""

import hashlib
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import files
import names

CELLS = st.text(alphabet=st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]))
TABLES = st.integers(min_value=1, max_value=4).flatmap(
    lambda width: st.tuples(
        st.lists(CELLS, min_size=width, max_size=width, unique=True),
        st.lists(st.lists(CELLS, min_size=width, max_size=width)),
    )
)


def test_a_digest_is_sha_256(tmp_path):
    # The example of FIPS 180-2, appendix B.1.
    published = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    (tmp_path / "a").write_bytes(b"abc")
    assert files.digest(b"abc") == published
    assert files.digest_of_file(tmp_path / "a") == published


def test_the_digest_of_values_does_not_depend_on_the_order_of_keys():
    first = files.digest_of_values({"a": 1, "b": {"c": 2, "d": [3, 4]}})
    assert first == files.digest_of_values({"b": {"d": [3, 4], "c": 2}, "a": 1})
    assert first != files.digest_of_values({"b": {"d": [4, 3], "c": 2}, "a": 1})
    assert first == hashlib.sha256(b'{"a":1,"b":{"c":2,"d":[3,4]}}').hexdigest()


def test_json_is_indented_utf8_with_keys_in_the_order_given_and_a_line_end():
    data = files.json_bytes({"b": "Zürich", "a": [1, None]})
    assert data == '{\n  "b": "Zürich",\n  "a": [\n    1,\n    null\n  ]\n}\n'.encode()


def test_json_holds_floats_in_full_precision():
    assert orjson.loads(files.json_bytes([0.1 + 0.2, 29 / 36])) == [0.1 + 0.2, 29 / 36]


def test_a_table_has_empty_cells_for_none_and_floats_in_full_precision():
    data = files.tsv_bytes(["a", "b", "c"], [[None, 0.1 + 0.2, 5e-05], ["é", 1, ""]])
    assert data == "a\tb\tc\n\t0.30000000000000004\t5e-05\né\t1\t\n".encode()


@pytest.mark.parametrize("character", ["\t", "\n", "\r"])
def test_a_cell_that_would_break_the_columns_is_refused(character):
    with pytest.raises(ValueError, match="a TSV cell cannot hold"):
        files.tsv_bytes(["a"], [[f"de-doc-1{character}"]])


def read_back(text):
    return files.parse_tsv(files.tsv_bytes(["cell"], [[files.one_line(text)]]).decode())


def test_text_that_would_break_a_table_can_be_written_as_one_line():
    assert read_back("a\tb\r\nc") == [{"cell": r"a\tb\r\nc"}]


@pytest.mark.parametrize("text", ["", " a  b ", "é\u2028\x0c", '"'])
def test_other_text_stays_as_it_is_on_one_line(text):
    assert read_back(text) == [{"cell": text}]


def test_no_two_texts_become_the_same_on_one_line():
    texts = ["a\tb", r"a\tb", r"a\\tb", "a\\\tb", "a\nb", r"a\nb"]
    assert len({files.one_line(text) for text in texts}) == len(texts)


@given(TABLES)
def test_a_table_is_read_back_as_it_was_written(tmp_path_factory, table):
    header, rows = table
    path = tmp_path_factory.getbasetemp() / "table.tsv"
    path.write_bytes(files.tsv_bytes(header, rows))
    assert files.read_tsv(path) == [dict(zip(header, row, strict=True)) for row in rows]


def test_a_table_whose_rows_lack_cells_is_not_read(tmp_path):
    (tmp_path / "table.tsv").write_bytes(b"a\tb\n1\n")
    with pytest.raises(ValueError, match="shorter"):
        files.read_tsv(tmp_path / "table.tsv")


def test_writing_makes_the_folder_and_leaves_nothing_but_the_file(tmp_path):
    path = tmp_path / "new" / "folder" / "a.json"
    files.write_whole(path, b"old")
    files.write_whole(path, b"new")
    assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == {"a.json": b"new"}


def write_half(path, data):
    path.write_text(data[: len(data) // 2].decode())
    raise KeyboardInterrupt


def stop(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("step", "interrupted"), [("write_bytes", write_half), ("replace", stop)])
def test_an_interrupted_write_leaves_the_old_content(tmp_path, monkeypatch, step, interrupted):
    path = tmp_path / "a.json"
    files.write_whole(path, b"old")
    monkeypatch.setattr(Path, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_whole(path, b"new")
    assert path.read_bytes() == b"old"


def test_what_an_interrupted_write_left_is_not_taken_for_a_run(campaign, monkeypatch):
    path = campaign.run(info=None)
    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        files.write_whole(path, b"half")
    listed = names.list_submissions(campaign.systems, names.Naming("HIPE-2026", frozenset(), 3))
    assert [(each.file, each.kind) for each in listed] == [
        (files.temporary_path(path).name, names.IGNORED),
        (path.name, names.RUN),
    ]

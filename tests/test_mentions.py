"""Mentions are found across broken lines, and excerpts show them."""

import pytest

from mentions import Nearest, Piece, excerpt, gap, mention_spans, nearest_mentions


@pytest.mark.parametrize(
    ("text", "mention", "found"),
    [
        ("Herr Müller in Bern", "Herr Müller", "Herr Müller"),
        ("Herr\nMüller in Bern", "Herr Müller", "Herr\nMüller"),
        ("nach Frank-\nfurt am Main", "Frankfurt", "Frank-\nfurt"),
        ("nach Frank¬\nfurt am Main", "Frankfurt", "Frank¬\nfurt"),
        ("nach Frank⸗ \n  furt am Main", "Frankfurt", "Frank⸗ \n  furt"),
        ("some spe\nculation", "speculation", "spe\nculation"),
        ("nach Frankfurt am Main", "Frank¬\nfurt", "Frankfurt"),
        ("bei Plou¬\ngastel", "Plou¬", "Plou"),
        ("der embassa-\n■dor Minto", "embassa-\n■dor", "embassa-\n■dor"),
        ("in Rot-\nhorn\nan  der Aare", "Rothorn an der Aare", "Rot-\nhorn\nan  der Aare"),
        ("Bern\n\nund Bern", "Bern und", "Bern\n\nund"),
        ("(Hr. Neef.)", "Hr. Neef", "Hr. Neef"),
        ("BERN, 3. März", "Bern", "BERN"),
        ("a -jH. Müller b", "-jH. Müller", "-jH. Müller"),
    ],
)
def test_a_mention_is_found_as_it_stands_in_the_text(text, mention, found):
    assert [text[start:end] for start, end in mention_spans(text, mention)] == [found]


def test_whole_words_come_before_parts_of_words():
    text = "Romantik in Rom"
    assert mention_spans(text, "Rom") == [(12, 15)]
    assert mention_spans("Romantik", "Rom") == [(0, 3)]


@pytest.mark.parametrize("mention", ["", " ", "-", "Wien"])
def test_what_is_not_there_is_not_found(mention):
    assert mention_spans("Herr Müller in Bern", mention) == []


def test_the_nearest_of_several_mentions_count():
    text = "Bern. Herr Neef reiste nach Bern, Neef nach Basel."
    nearest = nearest_mentions(text, ["Neef", "Herr Neef"], ["Bern"])
    # "Bern. Herr Neef" and "Bern, Neef" are both two characters apart; the first one counts.
    assert nearest == ((6, 15), (0, 4))
    assert gap(*nearest) == 2


def test_a_gap_is_what_lies_between_two_spans():
    assert gap((0, 4), (6, 9)) == gap((6, 9), (0, 4)) == 2
    assert gap((0, 4), (4, 9)) == gap((0, 6), (4, 9)) == 0


def test_one_mention_alone_is_better_than_none():
    assert nearest_mentions("Herr Neef", ["Neef"], ["Bern"]) == ((5, 9), None)
    assert nearest_mentions("Herr Neef", [], []) == (None, None)


def test_an_excerpt_marks_both_mentions_and_says_where_it_is_cut():
    text = "x" * 20 + " Neef\nging nach Bern " + "y" * 20
    pieces = excerpt(text, nearest_mentions(text, ["Neef"], ["Bern"]), margin=6)
    assert pieces == [
        Piece("… ", False),
        Piece("xxxxx ", False),
        Piece("Neef", True),
        Piece(" ging nach ", False),
        Piece("Bern", True),
        Piece(" yyyyy … ", False),
    ]


def test_mentions_that_are_far_apart_get_a_window_each():
    text = "Neef " + "x" * 100 + " Bern"
    pieces = excerpt(text, nearest_mentions(text, ["Neef"], ["Bern"]), margin=3)
    assert [piece.text for piece in pieces] == ["Neef", " xx … ", "xx ", "Bern"]


def test_without_mentions_an_excerpt_is_the_beginning_of_the_text():
    assert excerpt("abcdef", Nearest(None, None), margin=2) == [Piece("abcd…", False)]
    assert excerpt("abc", Nearest(None, None), margin=2) == [Piece("abc", False)]

"""The part of a reference that a pair belongs to: period, distance, quartile, links."""

import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata import NOT_FOUND, UNDATED, distance, links, period, quartiles

DISTANCES = st.lists(st.integers(0, 30), min_size=1, max_size=30)
LINKS = {"person": "pers_wikidata_QID", "place": "loc_wikidata_QID"}


@pytest.mark.parametrize(
    ("date", "years", "expected"),
    [
        ("1848-03-02", 20, "1840-1859"),
        ("1848", 20, "1840-1859"),
        ("1859-12-31", 20, "1840-1859"),
        ("1860-01-01", 20, "1860-1879"),
        ("1859", 20, "1840-1859"),
        ("1860", 20, "1860-1879"),
        ("1840", 20, "1840-1859"),
        ("1839", 20, "1820-1839"),
        ("1848", 10, "1840-1849"),
        ("1850", 50, "1850-1899"),
        ("1849", 50, "1800-1849"),
        ("1999", 100, "1900-1999"),
        ("2000", 100, "2000-2099"),
        ("1848", 1, "1848-1848"),
        ("1848", 7, "1848-1854"),
    ],
)
def test_a_period_begins_at_a_multiple_of_its_length(date, years, expected):
    assert period(date, years) == expected


@pytest.mark.parametrize(
    "date",
    [
        *(None, "", "NA", "1901?", "1848-2-3", "1848-03", "184", "18480", "18480302", " 1848"),
        *(
            "1848 ",
            "1848\n",
            "c. 1848",
            "1848-03-02T00:00",
            "1848-03-02-",
            "1848-",
            "-1848",
            "MDCC",
        ),
        *("1848/03/02", "١٨٤٨"),
    ],
)
def test_what_is_no_date_is_undated(date):
    assert period(date, 20) == UNDATED == "undated"


@given(st.integers(1000, 9999), st.integers(1, 500))
def test_a_year_lies_in_its_period_which_is_as_long_as_wanted(year, years):
    first, last = map(int, period(f"{year}-03-02", years).split("-"))
    assert first <= year <= last == first + years - 1
    assert first % years == 0


@given(st.lists(st.integers(0, 9999), min_size=2), st.integers(1, 200))
def test_names_of_periods_stand_in_the_order_of_time(numbers, years):
    # What sorts names must not put 980-999 after 1840-1859.
    names = [period(f"{number:04}", years) for number in sorted(numbers)]
    assert names == sorted(names)


@pytest.mark.parametrize(
    ("text", "persons", "places", "expected"),
    [
        ("Herr Neef in Bern", ["Neef"], ["Bern"], len(" in ")),
        ("Bern, Neef", ["Neef"], ["Bern"], len(", ")),
        ("NeefBern", ["Neef"], ["Bern"], 0),
        ("Neef von Bern ging", ["Neef von Bern"], ["Bern"], 0),
        ("Herr Neef", ["Neef"], ["Herr"], 1),
        # The nearest of several, whatever mention string finds it.
        ("Neef ... Bern, und Neef zu Basel", ["Neef"], ["Bern", "Basel"], len(" zu ")),
        ("Neef war fort. In Bern sah Herr N. ihn", ["Neef", "Herr N."], ["Bern"], len(" sah ")),
        # The first mention is not the nearest one, on either side.
        ("Bern. Zürich! Neef - Bern: Neef", ["Neef"], ["Bern"], len(": ")),
        # A mention that is broken at the end of a line is one mention.
        ("Herr Neef in Frank-\nfurt", ["Neef"], ["Frankfurt"], len(" in ")),
        ("Frank¬\nfurt, Neef", ["Neef"], ["Frankfurt"], len(", ")),
        ("Frank⸗\n  furt, Neef", ["Neef"], ["Frankfurt"], len(", ")),
        ("Herr\nNeef in Bern", ["Herr Neef"], ["Bern"], len(" in ")),
        ("in Ne\nef, Bern", ["Neef"], ["Bern"], len(", ")),
        # The line break between two mentions is a character like others.
        ("Neef\nBern", ["Neef"], ["Bern"], 1),
        ("Herr Müller zu Zürich", ["Müller"], ["Zürich"], len(" zu ")),
    ],
)
def test_a_distance_is_the_characters_between_the_nearest_mentions(text, persons, places, expected):
    assert distance(text, persons, places) == expected
    assert distance(text, places, persons) == expected


@pytest.mark.parametrize(
    ("persons", "places"),
    [
        (["Neef"], ["Wien"]),
        (["Muster"], ["Bern"]),
        (["Muster"], ["Wien"]),
        ([], ["Bern"]),
        (["Neef"], []),
        ([""], ["Bern"]),
    ],
)
def test_a_mention_that_is_not_found_leaves_no_distance(persons, places):
    assert distance("Herr Neef in Bern", persons, places) is None


def number_and_bounds(name):
    """Return the number of a quartile and the distances that its name speaks of."""
    match = re.fullmatch(r"quartile ([1-4]) \((\d+)-(\d+)\)", name)
    assert match, name
    return tuple(map(int, match.groups()))


@given(DISTANCES)
def test_a_name_gives_bounds_that_hold_for_all_of_its_quartile(distances):
    found = quartiles(distances)
    for value in distances:
        _, low, high = number_and_bounds(found.name(value))
        assert low <= value <= high
    # Bounds are not vaguer than needed: the distance that a quartile ends with occurs.
    for name in {found.name(value) for value in distances}:
        assert number_and_bounds(name)[2] in distances


@given(DISTANCES)
def test_names_tell_quartiles_apart_and_do_not_overlap(distances):
    found = quartiles(distances)
    named = sorted({number_and_bounds(found.name(value)) for value in distances})
    assert len({number for number, _, _ in named}) == len(named) <= 4
    for (_, _, high), (_, low, _) in pairwise(named):
        assert high < low
    assert named[0][1] == min(distances)
    assert named[-1][2] == max(distances)


@given(DISTANCES)
def test_a_quartile_holds_a_quarter_as_nearly_as_equal_distances_allow(distances):
    found = quartiles(distances)
    numbers = {value: number_and_bounds(found.name(value))[0] for value in distances}
    for quarter in (1, 2, 3):
        within = [value for value in distances if numbers[value] <= quarter]
        # At least so many quarters of all, and not without the largest distance among them.
        assert len(within) * 4 >= len(distances) * quarter
        if within:
            less = [value for value in within if value < max(within)]
            assert len(less) * 4 < len(distances) * quarter


def test_quartiles_of_eight_distances_worked_out_by_hand():
    distances = [2, 3, 5, 7, 11, 13, 17, 19]
    found = quartiles(distances)
    names = ["quartile 1 (2-3)", "quartile 2 (4-7)", "quartile 3 (8-13)", "quartile 4 (14-19)"]
    assert [found.name(value) for value in distances] == [name for name in names for _ in "ab"]


def test_equal_distances_stay_together_although_quartiles_get_uneven():
    distances = [0, 0, 0, 0, 0, 1, 2, 9]
    found = quartiles(distances)
    # Half of eight is less than the five zeros, so that no distance is in the second quartile.
    assert Counter(number_and_bounds(found.name(value))[0] for value in distances) == {
        1: 5,
        3: 1,
        4: 2,
    }
    assert found.name(1) == "quartile 3 (1-1)"
    assert found.name(9) == "quartile 4 (2-9)"


@pytest.mark.parametrize(
    ("distances", "names"),
    [
        ([5], ["quartile 1 (5-5)"]),
        ([5] * 9, ["quartile 1 (5-5)"] * 9),
        ([3, 9], ["quartile 1 (3-3)", "quartile 3 (4-9)"]),
        ([1, 2, 3], ["quartile 1 (1-1)", "quartile 2 (2-2)", "quartile 3 (3-3)"]),
        ([4, None], ["quartile 1 (4-4)", NOT_FOUND]),
    ],
)
def test_fewer_than_four_distances_do_with_fewer_quartiles(distances, names):
    found = quartiles(distances)
    assert [found.name(value) for value in distances] == names


@given(DISTANCES, st.integers(1, 9))
def test_mentions_that_are_not_found_change_no_quartile(distances, number):
    assert quartiles([*distances, *[None] * number]) == quartiles(distances)
    assert quartiles(distances).name(None) == NOT_FOUND


@given(DISTANCES.flatmap(lambda d: st.tuples(st.just(d), st.permutations(d))))
def test_the_order_of_the_distances_does_not_matter(both):
    assert quartiles(both[0]) == quartiles(both[1])


@pytest.mark.parametrize("distances", [[], [None, None]])
def test_without_a_known_distance_everything_is_not_found(distances):
    found = quartiles(distances)
    assert [found.name(value) for value in distances] == [NOT_FOUND] * len(distances)
    assert NOT_FOUND == "not found"


@pytest.mark.parametrize(
    ("person", "place", "expected"),
    [
        ("Q1", "Q72", "person linked, place linked"),
        (None, "Q72", "person NIL, place linked"),
        ("Q1", None, "person linked, place NIL"),
        (None, None, "person NIL, place NIL"),
        ("NIL", "", "person NIL, place NIL"),
    ],
)
def test_links_say_of_both_entities_whether_wikidata_has_them(person, place, expected):
    pair = {"pers_wikidata_QID": person, "loc_wikidata_QID": place}
    assert links(pair, LINKS) == expected
    assert links(pair, dict(reversed(LINKS.items()))).split(", ") == expected.split(", ")[::-1]

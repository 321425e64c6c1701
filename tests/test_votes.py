"""Votes of the best runs on a gold label."""

import pytest

from votes import Vote, is_flagged, vote


@pytest.mark.parametrize(
    ("labels", "outcome"),
    [
        (["TRUE", "TRUE", "FALSE"], Vote("TRUE", "MAJORITY")),
        (["TRUE", "PROBABLE", "FALSE"], Vote("NO_MAJORITY", "NO_MAJORITY")),
        (["TRUE", "TRUE", "FALSE", "FALSE", "PROBABLE"], Vote("NO_MAJORITY", "NO_MAJORITY")),
        (["FALSE"], Vote("FALSE", "MAJORITY")),
    ],
)
def test_a_majority_is_more_than_half(labels, outcome):
    assert vote(labels) == outcome


def test_a_pair_is_flagged_unless_the_majority_gives_the_gold_label():
    assert not is_flagged("TRUE", Vote("TRUE", "MAJORITY"))
    assert is_flagged("FALSE", Vote("TRUE", "MAJORITY"))
    assert is_flagged("TRUE", Vote("NO_MAJORITY", "NO_MAJORITY"))

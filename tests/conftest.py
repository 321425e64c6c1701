"""Fixtures of all tests."""

import hypothesis
import pytest

from kit import Campaign

# How long an example takes says nothing on a busy machine.
hypothesis.settings.register_profile("tests", deadline=None)
hypothesis.settings.load_profile("tests")


@pytest.fixture
def campaign(tmp_path, capsys):
    """An empty campaign: add references and runs, then run scripts or make."""

    def capture():
        said = capsys.readouterr()
        return said.out, said.err

    return Campaign(tmp_path, capture)


@pytest.fixture
def base(campaign):
    """A campaign with the four base references and a perfect run of team1 on each."""
    for stem in ("HIPE-2026-v1.0-impresso-test-" + language for language in ("de", "en", "fr")):
        campaign.reference(stem)
        campaign.run(stem=stem)
    campaign.reference("HIPE-2026-v1.0-surprise-test-fr")
    campaign.run(stem="HIPE-2026-v1.0-surprise-test-fr")
    return campaign

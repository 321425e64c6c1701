"""What is inferred about a ranking from counts by document."""

import hashlib
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import bootstrap
import inference
import paired_tests
from counting import file_scores
from document_counts import Counts, scores, shares
from inference import Efficiency, Sample, Settings, settings_of
from kit import PROJECT

SETTINGS = Settings(seed=3, level=0.95, resamples=400, draws=300, ties="competition")
SCORE = "profile"


def drawn_counts(seed, documents=9, runs=4):
    chance = np.random.default_rng(seed)
    gold, hits = {}, {}
    for target, labels in (("at", 3), ("isAt", 2)):
        gold[target] = chance.integers(1, 7, (documents, labels)).astype(float)
        p = np.linspace(0.3, 0.8, runs)[None, :, None]
        hits[target] = chance.binomial(gold[target][:, None].astype(int), p).astype(float)
    names = [(f"team{n}", "run1") for n in range(runs)]
    return Counts(names, [f"d{n}" for n in range(documents)], gold, hits)


def one_file(seed=0, **size):
    return Sample(["de"], [drawn_counts(seed, **size)])


def three_files():
    return Sample(["de", "en", "fr"], [drawn_counts(n, documents=7 + n) for n in range(3)])


def mean_of(sample):
    return inference.mean_statistic(sample, SCORE, list(sample.names), "mean")


def test_settings_are_those_of_the_configuration():
    facts = {"seed": 1, "level": 0.9, "resamples": 5, "draws": 6, "note": "not ours"}
    assert settings_of(facts, "dense") == Settings(1, 0.9, 5, 6, "dense")
    assert settings_of(facts, "dense").alpha == 0.1


def test_every_score_of_a_file_is_estimated_with_its_intervals():
    sample = one_file()
    found = inference.estimates(inference.file_statistic(sample, SCORE), sample, SETTINGS)
    (counts,) = sample.counts
    weights = bootstrap.resample(9, 400, 3, "resamples of de")
    level = bootstrap.expanded_level(0.95, [9])
    once = scores(counts, np.ones((1, 9)), SCORE)
    resampled = scores(counts, weights, SCORE)
    left_out = scores(counts, bootstrap.leave_one_out(9), SCORE)
    assert list(found) == [
        SCORE,
        *("at_macro_recall", "at_accuracy", "isAt_macro_recall", "isAt_accuracy"),
    ]
    for name, estimate in found.items():
        assert (estimate.value == once[name][0]).all()
        assert (estimate.resampled == resampled[name]).all()
        ordered = bootstrap.in_order(resampled[name])
        expected = bootstrap.intervals(once[name][0], ordered, [left_out[name]], level)
        assert (estimate.intervals.low == expected.low).all()
        assert (estimate.intervals.high == expected.high).all()
        assert (estimate.intervals.low < estimate.value).all()
        assert (estimate.value < estimate.intervals.high).all()


def test_a_mean_over_files_resamples_the_documents_within_each_file():
    sample = three_files()
    found = inference.estimates(mean_of(sample), sample, SETTINGS)
    single = []
    for name, counts in zip(sample.names, sample.counts, strict=True):
        number = len(counts.documents)
        weights = bootstrap.resample(number, 400, 3, f"resamples of {name}")
        single.append(scores(counts, weights, SCORE)[SCORE])
    assert list(found) == ["mean", "profile_de", "profile_en", "profile_fr"]
    assert found["mean"].resampled == pytest.approx(np.mean(single, axis=0), abs=1e-12)
    assert (found["profile_en"].resampled == single[1]).all()
    values = [found[f"profile_{name}"].value for name in sample.names]
    assert found["mean"].value == pytest.approx(np.mean(values, axis=0), abs=1e-12)


def test_the_jackknife_of_a_mean_leaves_out_one_document_of_one_file():
    sample = three_files()
    found = inference.estimates(mean_of(sample), sample, SETTINGS)["mean"]
    assert [len(each) for each in found.left_out] == [7, 8, 9]
    number = len(sample.counts[1].documents)
    without_first = np.ones((1, number))
    without_first[0, 0] = 0
    own = scores(sample.counts[1], without_first, SCORE)[SCORE][0]
    others = [scores(sample.counts[n], np.ones((1, 7 + n)), SCORE)[SCORE][0] for n in (0, 2)]
    assert found.left_out[1][0] == pytest.approx((own + others[0] + others[1]) / 3, abs=1e-12)


def test_a_score_on_one_file_has_the_same_interval_beside_a_mean_as_alone():
    sample = three_files()
    places = inference.scores_of_single_files(SCORE, sample.names)
    assert places == {"profile_de": 0, "profile_en": 1, "profile_fr": 2}
    found = inference.estimates(mean_of(sample), sample, SETTINGS, on_one_file=places)
    for name, place in places.items():
        alone = Sample([sample.names[place]], [sample.counts[place]])
        statistic = inference.file_statistic(alone, SCORE)
        expected = inference.estimates(statistic, alone, SETTINGS)[SCORE]
        assert (found[name].intervals.low == expected.intervals.low).all()
        assert (found[name].intervals.high == expected.intervals.high).all()
    whole = inference.estimates(mean_of(sample), sample, SETTINGS)
    assert (found["mean"].intervals.low == whole["mean"].intervals.low).all()


def test_a_mean_over_one_file_is_the_score_of_that_file():
    sample = one_file()
    weights = [np.ones((1, 9))]
    found = inference.mean_statistic(sample, SCORE, ["de"], "mean")(weights)
    assert list(found) == ["mean"]
    assert (found["mean"] == inference.file_statistic(sample, SCORE)(weights)[SCORE]).all()


def test_a_mean_rank_is_ranked_again_in_every_resample():
    sample = one_file()
    rest = np.array([2, 4, 6, 8])
    profile = Efficiency("mean_rank", SCORE, 2, rest, 4)
    statistic = inference.efficiency_statistic(
        inference.file_statistic(sample, SCORE), profile, "competition"
    )
    found = inference.estimates(statistic, sample, SETTINGS, unsmooth="mean_rank")
    assert list(found) == ["mean_rank", SCORE]
    for resample in range(20):
        values = found[SCORE].resampled[resample]
        ranks = [1 + sum(other > value + 1e-12 for other in values) for value in values]
        expected = [(2 * rank + more) / 4 for rank, more in zip(ranks, rest, strict=True)]
        assert found["mean_rank"].resampled[resample].tolist() == expected
    assert found["mean_rank"].left_out == []
    assert set(found["mean_rank"].intervals.method) == {bootstrap.PERCENTILE}
    assert set(found[SCORE].intervals.method) == {bootstrap.BCA}


def test_a_file_with_one_document_has_nothing_to_resample():
    assert not one_file(documents=1).is_resampled
    assert not Sample(["a", "b"], [drawn_counts(0), drawn_counts(1, documents=1)]).is_resampled
    assert three_files().is_resampled


def test_differences_have_the_intervals_of_a_statistic_of_their_own():
    # More than 256 pairs, so that they come in several blocks.
    sample = one_file(runs=24)
    statistic = inference.file_statistic(sample, SCORE)
    estimate = inference.estimates(statistic, sample, SETTINGS)[SCORE]
    level = bootstrap.expanded_level(0.95, [9])
    found = inference.compare(estimate, level)
    first, second = paired_tests.all_pairs(24)
    assert len(first) == 276

    def differences(values):
        return values[..., first] - values[..., second]

    ordered = bootstrap.in_order(differences(estimate.resampled))
    left_out = [differences(each) for each in estimate.left_out]
    observed = differences(estimate.value)
    expected = bootstrap.intervals(observed, ordered, left_out, level)
    assert (found.difference == observed).all()
    assert (found.intervals.low == expected.low).all()
    assert (found.intervals.high == expected.high).all()
    assert found.intervals.method == expected.method
    assert (found.p_bootstrap == paired_tests.bootstrap_test(ordered)).all()


def test_one_run_has_no_differences():
    sample = one_file(runs=1)
    estimate = inference.estimates(inference.file_statistic(sample, SCORE), sample, SETTINGS)[SCORE]
    found = inference.compare(estimate, 0.95)
    assert found.difference.tolist() == found.p_bootstrap.tolist() == []
    assert found.intervals.method == []


def test_the_randomization_test_swaps_documents_of_all_files_of_a_mean():
    sample = Sample(["a", "b"], [drawn_counts(n, documents=4 + n, runs=3) for n in range(2)])
    found = inference.randomization(sample, SETTINGS)
    parts = np.concatenate([shares(counts) / 2 for counts in sample.counts])
    # A sum over all documents is the mean of the scores of both files.
    single = [scores(c, np.ones((1, len(c.documents))), SCORE)[SCORE][0] for c in sample.counts]
    assert parts.sum(axis=0) == pytest.approx(np.mean(single, axis=0), abs=1e-12)
    swaps = paired_tests.swaps_for(9, 3, 300, 0.05)
    expected = paired_tests.randomization_test(parts, swaps, bootstrap.random_bits(3, "any"))
    assert found.p_values.tolist() == expected.p_values.tolist()
    assert found.swaps.tolist() == [2**9] * 3


def test_swaps_are_drawn_from_the_seed_and_the_names_of_the_files():
    counts = drawn_counts(1, documents=20)
    found = inference.randomization(Sample(["de"], [counts]), SETTINGS).p_values
    again = inference.randomization(Sample(["de"], [counts]), SETTINGS).p_values
    assert found.tolist() == again.tolist()
    for other in (
        inference.randomization(Sample(["en"], [counts]), SETTINGS),
        inference.randomization(Sample(["de"], [counts]), SETTINGS._replace(seed=4)),
    ):
        assert found.tolist() != other.p_values.tolist()


DIGEST = """
import test_inference
print(test_inference.digest_of_all())
"""


def digest_of_all():
    """Return a digest of the bytes of all that is inferred about three files."""
    sample = three_files()
    found = inference.estimates(mean_of(sample), sample, SETTINGS)
    running = hashlib.sha256()
    for estimate in found.values():
        running.update(estimate.resampled.tobytes())
        running.update(estimate.intervals.low.tobytes() + estimate.intervals.high.tobytes())
    running.update(inference.randomization(sample, SETTINGS).p_values.tobytes())
    return running.hexdigest()


@pytest.mark.parametrize(
    "machine",
    [
        {"OPENBLAS_NUM_THREADS": "1"},
        {"OPENBLAS_NUM_THREADS": "2"},
        # An older processor, as the library for matrices and numpy itself see it.
        {"OPENBLAS_CORETYPE": "Nehalem", "NPY_DISABLE_CPU_FEATURES": "AVX2 AVX512F AVX512_SKX"},
    ],
)
def test_every_machine_gets_the_same_bytes(machine):
    path = os.pathsep.join(str(PROJECT / folder) for folder in ("lib", "tests"))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DIGEST],
        env={**os.environ, **machine, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == digest_of_all()


def test_values_are_the_exact_scores_and_their_mean():
    sample = three_files()
    found = inference.estimates(mean_of(sample), sample, SETTINGS)
    labels = {"at": ["TRUE", "PROBABLE", "FALSE"], "isAt": ["TRUE", "FALSE"]}
    exact = []
    for counts in sample.counts:
        for run in range(4):
            matrices = {}
            for target, own in labels.items():
                right = counts.hits[target][:, run].sum(axis=0)
                wrong = counts.gold[target].sum(axis=0) - right
                matrix = {row: dict.fromkeys(own, 0) for row in own}
                for place, name in enumerate(own):
                    matrix[name][name] = int(right[place])
                    matrix[name][own[place - 1]] = int(wrong[place])
                matrices[target] = matrix
            exact.append(file_scores(matrices, SCORE)[SCORE])
    for run in range(4):
        own = exact[run::4]
        for name, value in zip(sample.names, own, strict=True):
            assert found[f"{SCORE}_{name}"].value[run] == pytest.approx(float(value), abs=1e-12)
        assert found["mean"].value[run] == pytest.approx(float(sum(own) / 3), abs=1e-12)


def test_a_rank_with_ties_is_numbered_as_the_ranking_is():
    counts = drawn_counts(2)
    # The second run is a copy of the third.
    hits = {target: own.copy() for target, own in counts.hits.items()}
    for own in hits.values():
        own[:, 1] = own[:, 2]
    sample = Sample(["de"], [counts._replace(hits=hits)])
    by_score = inference.file_statistic(sample, SCORE)
    profile = Efficiency("mean_rank", SCORE, 1, np.array([1, 1, 2, 3]), 3)
    for ties in ("competition", "dense"):
        statistic = inference.efficiency_statistic(by_score, profile, ties)
        settings = SETTINGS._replace(resamples=200, ties=ties)
        found = inference.estimates(statistic, sample, settings, unsmooth="mean_rank")
        numbers = found["mean_rank"].resampled * 3 - profile.rest
        for values, ranked in zip(found[SCORE].resampled, numbers, strict=True):
            # Nine decimals tell scores apart, but not what rounding makes of equal ones.
            rounded = values.round(9).tolist()
            of_ties = set(rounded) if ties == "dense" else rounded
            expected = [1 + sum(other > value for other in of_ties) for value in rounded]
            assert ranked == pytest.approx(expected, abs=1e-9)


def test_the_interval_of_a_mean_rank_is_that_of_its_resamples():
    sample = one_file()
    profile = Efficiency("mean_rank", SCORE, 2, np.array([2, 4, 6, 8]), 4)
    statistic = inference.efficiency_statistic(
        inference.file_statistic(sample, SCORE), profile, "competition"
    )
    found = inference.estimates(statistic, sample, SETTINGS, unsmooth="mean_rank")["mean_rank"]
    # Nine documents: sqrt(9 / 8) times the quantile of t with eight degrees of freedom.
    tail = stats.norm.sf(np.sqrt(9 / 8) * stats.t.ppf(0.975, 8))
    low, high = np.quantile(found.resampled, [tail, 1 - tail], axis=0)
    assert found.intervals.low == pytest.approx(low, abs=1e-6)
    assert found.intervals.high == pytest.approx(high, abs=1e-6)


def differences_of(estimate, level):
    """Return the intervals of the differences of every two runs, one by one."""
    found = []
    for one, other in itertools.combinations(range(len(estimate.value)), 2):

        def difference(values, one=one, other=other):
            return (values[..., one] - values[..., other])[..., None]

        ordered = bootstrap.in_order(difference(estimate.resampled))
        left_out = [difference(each) for each in estimate.left_out]
        observed = difference(estimate.value)
        found.append(bootstrap.intervals(observed, ordered, left_out, level))
    return found


def test_differences_over_several_files_have_the_intervals_that_each_has_alone():
    sample = three_files()
    estimate = inference.estimates(mean_of(sample), sample, SETTINGS)["mean"]
    level = bootstrap.expanded_level(0.95, sample.documents)
    found = inference.compare(estimate, level)
    alone = differences_of(estimate, level)
    assert found.intervals.method == [each.method[0] for each in alone]
    assert bootstrap.BCA in found.intervals.method
    for name in ("low", "high", "percentile_low", "percentile_high"):
        expected = [getattr(each, name)[0] for each in alone]
        assert getattr(found.intervals, name) == pytest.approx(expected, abs=1e-12)
    for place, (one, other) in enumerate(itertools.combinations(range(4), 2)):
        resampled = estimate.resampled[:, one] - estimate.resampled[:, other]
        tail = min(np.sum(resampled <= 1e-12), np.sum(resampled >= -1e-12))
        assert found.p_bootstrap[place] == min(2 * (tail + 1) / 401, 1)
        assert found.difference[place] == estimate.value[one] - estimate.value[other]


@pytest.mark.parametrize("pairs", [1, 7, 275, 276, 10_000])
def test_differences_are_the_same_to_the_last_bit_in_blocks_of_any_size(pairs, monkeypatch):
    sample = Sample(["a", "b"], [drawn_counts(n, documents=19, runs=24) for n in range(2)])
    settings = SETTINGS._replace(resamples=100)
    estimate = inference.estimates(mean_of(sample), sample, settings)["mean"]
    expected = inference.compare(estimate, 0.95)
    monkeypatch.setattr("inference._PAIRS_AT_A_TIME", pairs)
    found = inference.compare(estimate, 0.95)
    assert found.intervals.method == expected.intervals.method
    for name in ("low", "high", "percentile_low", "percentile_high"):
        own, other = getattr(found.intervals, name), getattr(expected.intervals, name)
        assert own.tobytes() == other.tobytes()
    assert found.difference.tobytes() == expected.difference.tobytes()
    assert found.p_bootstrap.tobytes() == expected.p_bootstrap.tobytes()


def test_two_copies_of_a_run_have_no_difference():
    counts = drawn_counts(4)
    twice = counts.of_runs([counts.runs[0], counts.runs[0], counts.runs[3]])
    sample = Sample(["de"], [twice])
    estimate = inference.estimates(inference.file_statistic(sample, SCORE), sample, SETTINGS)[SCORE]
    found = inference.compare(estimate, 0.95)
    assert (found.difference[0], found.intervals.low[0], found.intervals.high[0]) == (0, 0, 0)
    assert found.intervals.method[0] == bootstrap.PERCENTILE
    assert found.p_bootstrap[0] == 1
    assert inference.randomization(sample, SETTINGS).p_values[0] == 1


def test_the_order_of_runs_only_changes_signs():
    counts = drawn_counts(5)
    found = []
    for runs in (counts.runs, counts.runs[::-1]):
        sample = Sample(["de"], [counts.of_runs(runs)])
        estimate = inference.estimates(mean_of(sample), sample, SETTINGS)["mean"]
        found.append((inference.compare(estimate, 0.95), inference.randomization(sample, SETTINGS)))
    (plain, p_plain), (turned, p_turned) = found
    # Pair (a, b) of four runs is (3 - b, 3 - a) in reverse.
    order = list(itertools.combinations(range(4), 2))
    place = [order.index((3 - other, 3 - one)) for one, other in order]
    # The run that was first is now second, and the second first: the same difference, negated.
    assert turned.difference[place] == pytest.approx(-plain.difference, abs=1e-12)
    assert turned.intervals.low[place] == pytest.approx(-plain.intervals.high, abs=1e-6)
    assert turned.intervals.high[place] == pytest.approx(-plain.intervals.low, abs=1e-6)
    assert turned.p_bootstrap[place].tolist() == plain.p_bootstrap.tolist()
    assert p_turned.p_values[place].tolist() == p_plain.p_values.tolist()


def test_a_file_has_the_same_resamples_alone_and_among_others():
    sample = three_files()
    together = inference.estimates(mean_of(sample), sample, SETTINGS)
    for name, counts in zip(sample.names, sample.counts, strict=True):
        alone = Sample([name], [counts])
        found = inference.estimates(inference.file_statistic(alone, SCORE), alone, SETTINGS)[SCORE]
        assert (together[f"{SCORE}_{name}"].resampled == found.resampled).all()


@pytest.mark.parametrize(("documents", "runs", "most"), [(14, 46, 2**14), (15, 46, 103_500)])
def test_swaps_are_counted_for_every_two_runs(documents, runs, most):
    # 46 runs are 1,035 comparisons; a p-value of 0.05 / 1,035 is met five times in 103,500.
    assert SETTINGS.swaps(documents, runs).most == most
    assert Settings(0, 0.9, 1, 10, "dense").swaps(20, 3).most == 5 * 3 * 10


def digest_of_many_runs():
    """Return a digest of what products of matrices make that are large enough for threads."""
    sample = Sample(["a", "b"], [drawn_counts(n, documents=30 + n, runs=24) for n in range(2)])
    settings = SETTINGS._replace(resamples=500, draws=500)
    running = hashlib.sha256()
    estimate = inference.estimates(mean_of(sample), sample, settings)["mean"]
    compared = inference.compare(estimate, 0.97)
    for values in (estimate.value, estimate.resampled, *estimate.left_out, *compared.intervals[:2]):
        running.update(values.tobytes())
    running.update(compared.p_bootstrap.tobytes())
    running.update(inference.randomization(sample, settings).p_values.tobytes())
    return running.hexdigest()


def test_threads_that_share_a_product_of_matrices_change_no_byte():
    path = os.pathsep.join(str(PROJECT / folder) for folder in ("lib", "tests"))
    code = "import test_inference; print(test_inference.digest_of_many_runs())"
    digests = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert digests == {digest_of_many_runs() + "\n"}


def test_the_jackknife_leaves_files_of_the_same_size_apart():
    sample = Sample(["a", "b"], [drawn_counts(n) for n in range(2)])
    found = inference.estimates(mean_of(sample), sample, SETTINGS)["mean"].left_out
    for place, counts in enumerate(sample.counts):
        own = scores(counts, bootstrap.leave_one_out(9), SCORE)[SCORE]
        other = scores(sample.counts[1 - place], np.ones((1, 9)), SCORE)[SCORE]
        assert found[place] == pytest.approx((own + other) / 2, abs=1e-12)


def test_two_documents_have_the_interval_from_the_worst_to_the_best_resample():
    sample = one_file(documents=2)
    assert sample.is_resampled
    found = inference.estimates(inference.file_statistic(sample, SCORE), sample, SETTINGS)[SCORE]
    # sqrt(2) times the quantile of t with one degree of freedom is 18 deviations: everything.
    assert (found.intervals.low == found.resampled.min(axis=0)).all()
    assert (found.intervals.high == found.resampled.max(axis=0)).all()
    # Of two documents there are three resamples: either one twice, or both.
    assert len(np.unique(found.resampled[:, 0].round(12))) == 3

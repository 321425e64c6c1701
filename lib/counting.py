"""Counting: confusion matrices, and every score as an exact function of them.

A confusion matrix is {gold label: {predicted label: number of pairs}}, with all labels of the
target in the order of the configuration, rows gold and columns predicted. Scores are fractions,
so that equal scores are equal; they become floats only when they are written.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction

Confusion = dict[str, dict[str, int]]


def confusion_matrix(
    gold: list[str],
    predicted: list[str | None],
    labels: list[str],
    mapping: dict[str, str],
    imputed_label: str,
) -> Confusion:
    """Count the pairs by gold and predicted label.

    gold, predicted: labels of the same pairs in the same order; None in predicted counts as
    imputed_label. labels: those of the matrix. mapping: labels that count as another one.
    Raises KeyError for a label that is not of the target, ValueError for unequal lengths.
    """
    counts = Counter(zip(gold, predicted, strict=True))
    matrix = {row: dict.fromkeys(labels, 0) for row in labels}
    for (reference, answer), number in counts.items():
        answer = imputed_label if answer is None else answer  # noqa: PLW2901
        matrix[mapping.get(reference, reference)][mapping.get(answer, answer)] += number
    return matrix


def correct(matrix: Confusion) -> int:
    """Return the number of pairs whose predicted label is the gold label."""
    return sum(row[label] for label, row in matrix.items())


def total(matrix: Confusion) -> int:
    """Return the number of pairs."""
    return sum(support(matrix, label) for label in matrix)


def support(matrix: Confusion, label: str) -> int:
    """Return the number of gold instances of a label."""
    return sum(matrix[label].values())


def predictions(matrix: Confusion, label: str) -> int:
    """Return the number of pairs that were predicted to have a label."""
    return sum(row[label] for row in matrix.values())


def ratio(part: int, whole: int) -> Fraction | None:
    """Return part / whole, or None where the whole is 0 and the ratio means nothing."""
    return Fraction(part, whole) if whole else None


def mean(values: Sequence[Fraction]) -> Fraction:
    """Return the exact mean. Raises ZeroDivisionError for no values."""
    return sum(values, Fraction(0)) / len(values)


def accuracy(matrix: Confusion) -> Fraction:
    """Return the share of pairs whose predicted label is the gold label.

    Raises ZeroDivisionError for a matrix without pairs.
    """
    return Fraction(correct(matrix), total(matrix))


def macro_recall(matrix: Confusion) -> Fraction:
    """Return the mean, over the labels that the gold uses, of true positives / gold instances.

    Also called balanced accuracy (Brodersen et al., 2010). A label without gold instances has
    no recall and is left out of the mean. Raises ZeroDivisionError for a matrix without pairs.
    """
    recalls = [ratio(row[label], sum(row.values())) for label, row in matrix.items()]
    return mean([recall for recall in recalls if recall is not None])


def file_scores(matrices: dict[str, Confusion], profile_score: str) -> dict[str, Fraction]:
    """Return all scores of one run on one reference.

    matrices: {target: confusion matrix} of the scored targets. profile_score: what the mean of
    their macro recalls is called on this data set.
    """
    scores = {profile_score: mean([macro_recall(matrix) for matrix in matrices.values()])}
    for target, matrix in matrices.items():
        scores[f"{target}_macro_recall"] = macro_recall(matrix)
        scores[f"{target}_accuracy"] = accuracy(matrix)
    return scores


def unused_labels(matrix: Confusion) -> list[str]:
    """Return the labels that the gold never uses, which macro recall leaves out."""
    return [label for label in matrix if support(matrix, label) == 0]


def weighted_mean(values: Iterable[tuple[int, int]]) -> Fraction:
    """Return the mean of (weight, value) pairs, exactly."""
    pairs = list(values)
    return Fraction(sum(weight * value for weight, value in pairs), sum(w for w, _ in pairs))

"""Makes the cases that `scipy.rs` compares with: random ones, with ties and zeros, and what SciPy says about them.

    python scipy_reference.py > scipy_reference.json         make the file
    python scipy_reference.py --check scipy_reference.json   the cases must be the same, SciPy's values to 9 digits

Needs SciPy. The cases come from Python's own seeded generator, which is the same in every version. Differences are
whole numbers: tests look at their order alone, and the file stays small.
"""

import json
import math
import random
import sys

import numpy
from scipy import optimize, stats

CASES = 1000
# SciPy's exact permutation turns the signs of all pairs in every way: 2^13 of them, which is where SciPy itself stops.
MOST_PERMUTED = 13
# Above, and up to so many pairs, SciPy is exact without ties only.
MOST_EXACT = 50


def few_pairs(chance):
    """Mostly fewer than ten: SciPy needs a second for thirteen."""
    return chance.randint(2, 9) if chance.random() < 0.98 else chance.randint(10, MOST_PERMUTED)


def differences(chance, n):
    """A small spread ties often, a large one rarely; some are zero; some lists lean to one side."""
    spread = chance.choice([2, 5, 20, 2000])
    lean = chance.choice([0, 0, 0.2, 0.8]) * spread
    zeros = chance.choice([0, 0, 0.2])
    return [0 if chance.random() < zeros else round(chance.gauss(lean, spread)) for _ in range(n)]


def wilcoxon(d):
    """Zeros dropped (`zero_method="wilcox"`). Up to 13 pairs SciPy's exact permutation, ties and zeros included."""
    kept = [x for x in d if x != 0]
    if not kept:
        return {"n": 0, "w": 0, "p": 1}
    tied = len({abs(x) for x in kept}) < len(kept)
    if len(d) <= MOST_PERMUTED:
        method = stats.PermutationMethod(n_resamples=2**MOST_PERMUTED)
    else:
        method = "exact" if len(kept) <= MOST_EXACT else "asymptotic"
    # Zeros are dropped by us for the other methods, which would else fall back to the approximation.
    given = d if len(d) <= MOST_PERMUTED else kept
    found = stats.wilcoxon(given, zero_method="wilcox", correction=False, method=method)
    p = float(found.pvalue)
    if len(d) > MOST_PERMUTED and len(kept) <= MOST_EXACT and tied:
        p = counted(kept)
    return {"n": len(kept), "w": float(found.statistic), "p": p}


def counted(kept):
    """The exact p-value where SciPy has none (ties, more than 13 pairs): every assignment of signs, in whole numbers."""
    ranks = [round(2 * rank) for rank in stats.rankdata([abs(x) for x in kept])]
    ways = {0: 1}
    for rank in ranks:
        more = dict(ways)
        for total, count in ways.items():
            more[total + rank] = more.get(total + rank, 0) + count
        ways = more
    positive = sum(rank for rank, x in zip(ranks, kept) if x > 0)
    smaller = min(positive, sum(ranks) - positive)
    at_most = sum(count for total, count in ways.items() if total <= smaller)
    return min(1.0, 2 * at_most / 2 ** len(ranks))


def paired(d):
    """The t interval of the mean, the bootstrap's, Cohen's d, and what a paired t test would see 4 times in 5."""
    n, mean, deviation = len(d), numpy.mean(d), numpy.std(d, ddof=1)
    low, high = stats.ttest_1samp(d, 0).confidence_interval(0.95)
    critical = stats.t.isf(0.025, n - 1)

    def power(shift):
        # Far from zero the other tail is nothing, and SciPy's is not a number.
        other = stats.nct.cdf(-critical, n - 1, shift) if shift < 8 else 0
        return stats.nct.sf(critical, n - 1, shift) + other

    seen = optimize.brentq(lambda shift: power(shift) - 0.8, 0.5, 18, xtol=1e-13, rtol=1e-13) / math.sqrt(n)
    return {
        "mean": float(mean), "t": [float(low), float(high)], "bootstrap": bootstrap(d),
        "effect": float(mean / deviation), "seen": float(seen * deviation),
    }


def bootstrap(d):
    """Percentiles of the means of 10,000 draws; SplitMix64 draws, from the seed that the program uses."""
    n, draws = len(d), 10_000
    with numpy.errstate(over="ignore"):
        state = numpy.uint64(20250601) + numpy.uint64(0x9E3779B97F4A7C15) * numpy.arange(1, n * draws + 1, dtype=numpy.uint64)
        mixed = (state ^ (state >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> numpy.uint64(31)
        # The upper half of the product with n.
        low = (mixed & numpy.uint64(0xFFFFFFFF)) * numpy.uint64(n) >> numpy.uint64(32)
        places = ((mixed >> numpy.uint64(32)) * numpy.uint64(n) + low) >> numpy.uint64(32)
    means = numpy.array(d, dtype=float)[places].reshape(draws, n).mean(axis=1)
    return [float(x) for x in numpy.quantile(means, [0.025, 0.975])]


def mcnemar(b, c):
    """Exact binomial below 25 disagreements, else chi-squared with continuity correction."""
    if b + c == 0:
        return 1.0
    if b + c < 25:
        return float(stats.binomtest(b, b + c, 0.5).pvalue)
    return float(stats.chi2.sf((abs(b - c) - 1) ** 2 / (b + c), 1))


def mcnemar_case(chance):
    most = chance.choice([3, 12, 24, 60, 900])
    return chance.randint(0, most), chance.randint(0, most)


def paired_case(chance, n):
    """Like differences of accuracy in hundredths of a point, not all alike."""
    d = [round(chance.gauss(chance.choice([0, 100]), 200)) for _ in range(n)]
    return d if len(set(d)) > 1 else [*d[1:], d[0] + 1]


def cases():
    chance = random.Random(20250601)
    few = [differences(chance, few_pairs(chance)) for _ in range(CASES)]
    many = [differences(chance, chance.choice([14, 18, 25, 33, 50, 55, 70])) for _ in range(CASES // 5)]
    pairs = [paired_case(chance, chance.choice([2, 3, 4, 5, 6, 8, 12, 20, 41])) for _ in range(CASES // 10)]
    counts = [mcnemar_case(chance) for _ in range(CASES)]
    return {
        "wilcoxon": [{"d": d, **wilcoxon(d)} for d in few],
        "wilcoxon_of_many": [{"d": d, **wilcoxon(d)} for d in many],
        "paired": [{"d": d, **paired(d)} for d in pairs],
        "mcnemar": [{"b": b, "c": c, "p": mcnemar(b, c)} for b, c in counts],
    }


def same(made, read):
    if isinstance(made, dict):
        return made.keys() == read.keys() and all(same(made[k], read[k]) for k in made)
    if isinstance(made, list):
        return len(made) == len(read) and all(map(same, made, read))
    return math.isclose(made, read, rel_tol=1e-9, abs_tol=0)


def main():
    made = cases()
    if sys.argv[1:2] == ["--check"]:
        with open(sys.argv[2]) as file:
            read = json.load(file)
        if not same(made, read):
            sys.exit(f"{sys.argv[2]} is not what SciPy says")
        print(f"{sum(map(len, made.values()))} cases are what SciPy says")
        return
    lines = [
        f'"{name}": [\n' + ",\n".join(json.dumps(case, separators=(",", ":")) for case in part) + "\n]"
        for name, part in made.items()
    ]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()

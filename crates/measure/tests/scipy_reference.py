"""Makes the cases that `scipy.rs` compares with: random ones, with ties and zeros, and what SciPy says about them.

    python scipy_reference.py > scipy_reference.json         make the file
    python scipy_reference.py --check scipy_reference.json   the cases must be the same, SciPy's values to 12 digits

Needs SciPy. The cases come from Python's own seeded generator, which is the same in every version.
"""

import json
import math
import random
import sys

from scipy import stats

CASES = 1000


def wilcoxon_case(chance):
    """Differences: whole numbers tie often, decimals rarely; some are zero; some lists are long or lean to one side."""
    n = chance.choice([1, 2, 3, 5, 6, 8, 10, 12, 15, 20, 24, 25, 26, 30, 40])
    lean = chance.choice([0, 0, 0.4, 1.5])
    decimals = chance.choice([0, 1, 4])
    zeros = chance.choice([0, 0, 0.2])
    spread = chance.choice([2, 5])
    return [0.0 if chance.random() < zeros else round(chance.gauss(lean, spread), decimals) + 0.0 for _ in range(n)]


def wilcoxon(differences):
    """Zeros dropped; exact up to 25 pairs without ties, else normal with tie correction, never continuity correction."""
    kept = [d for d in differences if d != 0]
    if not kept:
        return {"n": 0, "w": 0, "p": 1}
    tied = len({abs(d) for d in kept}) < len(kept)
    method = "exact" if len(kept) <= 25 and not tied else "asymptotic"
    found = stats.wilcoxon(differences, zero_method="wilcox", correction=False, method=method)
    return {"n": len(kept), "w": float(found.statistic), "p": float(found.pvalue)}


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


def cases():
    chance = random.Random(20250601)
    differences = [wilcoxon_case(chance) for _ in range(CASES)]
    counts = [mcnemar_case(chance) for _ in range(CASES)]
    return {
        "wilcoxon": [{"d": d, **wilcoxon(d)} for d in differences],
        "mcnemar": [{"b": b, "c": c, "p": mcnemar(b, c)} for b, c in counts],
    }


def same(made, read):
    if isinstance(made, dict):
        return made.keys() == read.keys() and all(same(made[k], read[k]) for k in made)
    if isinstance(made, list):
        return len(made) == len(read) and all(map(same, made, read))
    return math.isclose(made, read, rel_tol=1e-12, abs_tol=0)


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

"""Gaussian processes at the command line: bounds that are bounds, and what is said of options."""
import json

import pytest


def fit(credence, *options):
    result = credence("fit", "gp", "examples/mcycle.csv", "--target", "accel", "--json", *options)
    assert result.code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("inducing", [20, 30, 40])
def test_the_variational_bound_is_not_above_the_evidence(credence, examples, inducing):
    """Also where the inducing inputs stand so near to each other that K is singular up to rounding."""
    best = fit(credence)["log_evidence"]
    bound = fit(credence, "--approx", "vfe", "--inducing", inducing)["log_evidence"]
    assert best - 0.05 < bound < best + 1e-8 * abs(best)

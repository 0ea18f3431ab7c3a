"""credence -- probabilistic machine learning: every answer comes with its uncertainty.

Estimators follow scikit-learn, and add what a distribution knows::

    from credence import BayesLinear
    model = BayesLinear().fit(X, y)
    mean, sd = model.predict(X_new, return_std=True)
    lower, upper = model.predict_interval(X_new, level=0.9)
    model.save("model.cred")            # credence predict model.cred data.csv

The classes are made from what libcredence declares: one for each of its models.  Beside them::

    credence.compare("data.csv", target="y", models=["linear", "gp"]).to_pandas()    # also cv, tune
    credence.Network("burglary.bif").query("P(burglary | john=yes)").marginals       # also infer, plot
    credence.dist("beta", 12, 3).interval(0.9)
    credence.describe("data.csv"), credence.info("data.csv", mutual=["a", "b"])
"""
from ._context import get_threads, set_threads
from ._dist import Distribution, dist, distributions
from ._errors import ConvergenceWarning, CredenceWarning, DataConversionWarning, NotFittedError
from ._info import describe, info
from ._library import lib as _lib
from ._network import Network, Posteriors
from ._registry import ESTIMATORS as _ESTIMATORS
from ._result import Figure, Result, Rows
from ._selection import Tuning, compare, cv, tune
from ._study import cross_validate, evaluate, load, plot
from ._table import Table, read_table
from ._version import version

__version__ = _lib.cr_version().decode()

globals().update(_ESTIMATORS)

__all__ = [*_ESTIMATORS, "ConvergenceWarning", "CredenceWarning", "DataConversionWarning", "Distribution", "Figure",
           "Network", "NotFittedError", "Posteriors", "Result", "Rows", "Table", "Tuning", "compare", "cross_validate", "cv",
           "describe", "dist", "distributions", "evaluate", "get_threads", "info", "load", "plot", "read_table", "set_threads", "tune",
           "version"]

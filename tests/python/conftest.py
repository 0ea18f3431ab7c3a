"""What the tests of the Python package share.

The package of this checkout is tested, on the library that CREDENCE_LIBRARY names or that of the build
tree; CREDENCE_BIN names the program of the same build.  Tests marked `slow` are left out by `make test`."""
import contextlib
import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python"
sys.path.insert(0, str(PACKAGE))

import credence  # noqa: E402
from credence import _context, _registry  # noqa: E402

# Models of series: what they say of a row depends on the targets of the rows before it, so that the laws of models of
# rows are not theirs (test_series.py has their own).
SERIES = [made for made in _registry.ESTIMATORS.values()
          if made._estimator_type == "regressor" and hasattr(made, "predict_smoothed")]
# Models of sequences of rows: they take one column of symbols, or rows that all weigh the same, and are looked at in
# test_sequences.py.
OF_SEQUENCES = [made for made in _registry.ESTIMATORS.values() if made._model_name in ("markov", "crf", "dbn", "hmm")]
# Models of columns with states, or of 0 and 1, which the columns of these laws do not have: test_network.py looks at them.
OF_STATES = [made for made in _registry.ESTIMATORS.values() if made._model_name in ("bn", "ising", "loglinear", "rbm")]
# Its rows are whole counts without weights, which the checks of scikit-learn do not have: test_topics.py.
OF_DOCUMENTS = [made for made in _registry.ESTIMATORS.values() if made._model_name == "topics"]
# A model that is what its program says: test_program.py looks at it.
STATED = [made for made in _registry.ESTIMATORS.values() if made._model_name == "program"]
# All others but the toy that predicts one number for every row.
ESTIMATORS = [made for made in _registry.ESTIMATORS.values() if made._model_name != "toy-mean" and made not in SERIES + OF_SEQUENCES + OF_STATES + OF_DOCUMENTS + STATED]
REGRESSORS = [made for made in ESTIMATORS if made._estimator_type == "regressor"]
SUPERVISED = [made for made in ESTIMATORS if made._estimator_type in ("regressor", "classifier")]
UPDATING = [made for made in ESTIMATORS if hasattr(made, "partial_fit")]


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds")


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


def assert_no_leak(use, times):
    """After the first one, `times` calls leave no byte of the library behind."""
    use()
    gc.collect()
    before = _context.current().memory()
    for _ in range(times):
        use()
    gc.collect()
    assert _context.current().memory() == before


@contextlib.contextmanager
def interrupted(seconds=0.3):
    """Ctrl-C comes while the body works, which must raise KeyboardInterrupt."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        timer.join()
        signal.signal(signal.SIGINT, former)


def data(rows=60, columns=4, seed=0):
    """X and a target that depends on it, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * np.arange(1, columns + 1) + 3
    return X, X @ rng.normal(size=columns) + 0.5 * rng.normal(size=rows) - 2


def columns_for(made, X):
    """X as the estimator takes it: yes and no, small counts, nothing negative, something in common, or as it is."""
    if made is credence.Markov:
        return np.round(np.abs(X[:, :1])) % 4
    if made is credence.Fa:
        return X + 4 * np.random.default_rng(7).normal(size=(len(X), 1))
    if made is credence.BetaBernoulli:
        return np.where(X > np.median(X, axis=0), 1.0, 0.0)
    if made is credence.VonMises:
        return np.remainder(X, 6)
    if not made._takes_fractions:
        return np.round(np.abs(X)) % 4
    return X if made._takes_numbers else X - X.min() + 0.5


def target_for(made, y):
    """y as the estimator takes it: two classes for a classifier, and none for those without a target."""
    if made._estimator_type == "classifier":
        return np.where(y > np.median(y), "high", "low")
    if made._estimator_type != "regressor":
        return None
    return np.round(y - y.min() + 1) if made()._get_tags()["requires_positive_y"] else y


def searches(made):
    """Whether it searches for the parameters of a kernel."""
    return {"kernel", "max_iter", "optimize"} <= made().get_params().keys()


def few_starts(made):
    """Settings by which a search for clusters has few starts."""
    return {"restarts": 2} if {"k", "restarts"} <= made().get_params().keys() else {}


def short_search(made):
    """Settings by which it does not search long: for hyper-parameters in two steps, and without Markov chains after
    them; for clusters among few numbers of them."""
    short = {"max_iter": 2, "hyper": "map"} if searches(made) else {}
    if {"kernel", "C", "tol"} <= made().get_params().keys() or made.__name__ == "OneClassSvm":
        short = {"tol": 1e-10}   # the weights of a machine are known as well as its search has ended
    short = {name: value for name, value in short.items() if name in made().get_params()}
    return short | (few_starts(made) | {"k": "2:3"} if few_starts(made) else {})


def brief(made, **settings):
    """An estimator for tests where it does not matter what the search for hyper-parameters finds."""
    return made(**short_search(made), **settings)


def still(made, **settings):
    """An estimator that keeps its hyper-parameters as they are, for tests of everything but the search."""
    return made(**({"optimize": "none"} if searches(made) else few_starts(made)), **settings)


def part(y, rows):
    """Some rows of a target, if there is one."""
    return None if y is None else y[rows]


def answers(model, X, level=0.95):
    """All that the model says of every row, as one array."""
    if model._estimator_type == "regressor":
        return np.column_stack([*model.predict(X, return_std=True), *model.predict_interval(X, level)])
    parts = [getattr(model, name)(X)
             for name in ("predict_proba", "decision_function", "distances", "score_samples", "transform")
             if hasattr(model, name)]
    return np.column_stack(parts)


@pytest.fixture
def Xy():
    return data()


@pytest.fixture
def shell(tmp_path):
    """Runs the program in an empty directory; gives its standard output.  OpenBLAS runs the kernels it
    runs here, which the bits depend on."""
    program = pathlib.Path(os.environ.get("CREDENCE_BIN", ROOT / "build/release/credence")).resolve()
    if not program.is_file():
        pytest.skip(f"{program} is not built")
    kernel = {"OPENBLAS_CORETYPE": credence.version()["blas"]["kernel"]}

    def run(*args):
        done = subprocess.run([program, *map(str, args)], capture_output=True, text=True, timeout=120,
                              cwd=tmp_path, env=os.environ | kernel, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return run


@pytest.fixture
def python():
    """Runs a program in a fresh Python that finds the package; gives (code, stdout, stderr)."""
    def run(program, *args, env=None, timeout=120, path=PACKAGE):
        done = subprocess.run([sys.executable, "-c", program, *args], capture_output=True, text=True,
                              timeout=timeout, env=os.environ | {"PYTHONPATH": str(path)} | (env or {}))
        return done.returncode, done.stdout, done.stderr
    return run

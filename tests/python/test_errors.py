"""Failures of the library become exceptions of Python, in its own words, respelled for Python."""
import gc
import warnings

import numpy as np
import pytest
from conftest import ESTIMATORS, answers, columns_for, data, target_for

import credence
from credence import _context, _options
from credence import _declarations as c
from credence._library import lib


def fail(status, text="why"):
    """Makes a call fail with this status."""
    def function(context):
        lib.cr_fail.restype = c.c_int
        return lib.cr_fail(c.c_void_p(context), status, text.encode())
    return function


@pytest.mark.parametrize("status, exception", [
    (c.EARG, ValueError), (c.EDATA, ValueError), (c.ENUMERIC, RuntimeError), (c.EIO, OSError),
    (c.ENOMEM, MemoryError), (c.EINTERRUPTED, KeyboardInterrupt), (c.EUNSUPPORTED, NotImplementedError)])
def test_every_status_has_its_exception(status, exception):
    with pytest.raises(exception, match="^why$"):
        _context.call(fail(status))


def test_messages_have_notes_and_hints(Xy):
    X, y = Xy
    with pytest.raises(ValueError) as e:
        credence.Ridge(features="x1,x9").fit(X, y)
    assert str(e.value).splitlines()[0] == "column 'x9' not found in the data"
    assert "columns: x1, x2, x3, x4, y" in str(e.value) and "hint: did you mean" in str(e.value)


@pytest.mark.parametrize("parameters, words", [
    ({"lambda_": -1}, r"lambda_: '-1' is not a number in the range >=0\nhint: for example lambda_=0.5"),
    ({"lambda_": np.inf}, "lambda_: 'inf' is not a number"),
    ({"lambda_": None}, "lambda_: '' is not a number"),
    ({"lambda_": "much"}, "lambda_: 'much' is not a number"),
    ({"solver": "prima"},
     "solver: 'prima' is not one of auto|primal|dual|lsqr|cg\nhint: did you mean solver='primal'"),
    ({"intercept": 1}, "intercept: '1' is not true or false"),
    ({"seed": 1.5}, "seed: '1.5' is not a whole number"),
    ({"seed": -1}, "seed: '-1' is not a whole number"),
    ({"basis": "poly"}, "basis: 'poly' is not poly:K")])
def test_wrong_parameters(parameters, words, Xy):
    with pytest.raises(ValueError) as e:
        credence.Ridge(**parameters).fit(*Xy)
    assert words.split("\\n")[0] in str(e.value)
    assert all(word in str(e.value) for word in words.split("\\n")) and "--" not in str(e.value)


def test_flags_become_keywords():
    spell = _options.in_python
    assert spell("--missing drop leaves such rows out") == "missing='drop' leaves such rows out"
    assert spell("use a larger --lambda; or") == "use a larger lambda_; or"
    assert spell("--optimize none --noise 0.01 --max-iter 5") == "optimize='none' noise=0.01 max_iter=5"
    assert spell("--missing values are") == "missing values are"
    assert spell("raise it with --memory-limit 2G") == "raise it with --memory-limit 2G"
    assert spell("--no-intercept requires") == "intercept=False requires"
    assert spell("a -- b --c") == "a -- b --c"


def test_numeric_failure():
    X, y = data()
    with pytest.raises(RuntimeError, match="linearly dependent"):
        credence.Ridge(lambda_=0).fit(np.hstack([X, X]), y)


def test_unsupported():
    X, y = data(rows=5, columns=10)
    with pytest.raises(NotImplementedError, match="no exact update.*\n.*solver='primal'"):
        credence.Ridge().fit(X, y).partial_fit(X, y)


def test_files(tmp_path, Xy):
    with pytest.raises(OSError, match="nowhere.cred"):
        credence.load(tmp_path / "nowhere.cred")
    with pytest.raises(OSError):
        credence.Ridge().fit(*Xy).save(tmp_path / "no" / "folder.cred")
    (tmp_path / "bad.cred").write_bytes(b"PK\3\4 nonsense")
    with pytest.raises(ValueError, match="bad.cred"):
        credence.load(tmp_path / "bad.cred")
    with pytest.raises(OSError, match="nowhere.csv"):
        credence.read_table(tmp_path / "nowhere.csv")
    with pytest.raises(TypeError, match="there is no option 'sep'"):
        credence.read_table("x.csv", sep=";")


@pytest.mark.parametrize("made", ESTIMATORS)
def test_a_failed_fit_leaves_the_estimator_as_it_was(made, Xy):
    X, y = columns_for(made, Xy[0]), target_for(made, Xy[1])
    model = made().fit(X, y)
    before = answers(model, X)
    with pytest.raises(ValueError):
        model.fit(X[:, :2] * np.nan, y)
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(answers(model, X), before)


def test_warnings_point_at_the_caller(Xy):
    X, y = Xy
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        credence.BayesLinear(max_iter=1, optimize="fixed-point").fit(X, y)
        credence.Linear().fit(X[:5], y[:5])
    assert [w.filename for w in caught] == [__file__] * 2
    assert issubclass(caught[0].category, credence.ConvergenceWarning)
    assert caught[1].category is credence.CredenceWarning and "as many coefficients" in str(caught[1].message)


def test_warnings_as_errors_leave_nothing_behind(Xy):
    X, y = Xy
    gc.collect()
    before = _context.current().memory()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(credence.CredenceWarning):
            credence.Linear().fit(X[:5], y[:5])
    gc.collect()
    assert _context.current().memory() == before


def test_without_sklearn(python):
    code, out, err = python("""
import sys, numpy, credence
try: credence.Ridge().predict([[1.0]])
except credence.NotFittedError as e: print(type(e).__name__, isinstance(e, AttributeError))
import warnings
warnings.simplefilter("error")
try: credence.BayesLinear(max_iter=1, optimize="fixed-point").fit(numpy.random.rand(9, 2), range(9))
except credence.ConvergenceWarning as e: print(e)
print("sklearn" in sys.modules, "pandas" in sys.modules)
""")
    assert code == 0, err
    assert out.splitlines()[0] == "NotFittedError True" and out.splitlines()[-1] == "False False"


def test_commands_of_the_shell_keep_their_flags(tmp_path):
    (tmp_path / "a.md").write_text("no model")
    with pytest.raises(ValueError, match="make one: credence fit MODEL DATA --target COLUMN -o FILE.cred"):
        credence.load(tmp_path / "a.md")


@pytest.mark.parametrize("open_file", [credence.load, credence.read_table])
def test_a_file_that_is_not_there(open_file, tmp_path):
    with pytest.raises(FileNotFoundError, match="cannot (read|open) .*nothing.csv: No such file"):
        open_file(tmp_path / "nothing.csv")
    with pytest.raises(OSError) as e:
        open_file(tmp_path)                    # another failure to read: no other class
    assert type(e.value) is OSError


def test_hints_for_classes(Xy, tmp_path):
    X, labels = Xy[0], np.where(Xy[1] > 0, "a", "b")
    model = credence.Lda().fit(X, labels)
    with pytest.raises(ValueError) as e:
        model.decide(X, "squared")
    assert "the loss is 0-1, or a matrix" in str(e.value) and "--" not in str(e.value)
    assert "ROC curve" in credence.plot(model, X, labels, path=tmp_path / "f.svg").svg
    with pytest.raises(NotImplementedError, match="kind='calibration'"):
        credence.plot(model, X, labels, kind="residuals")
    with pytest.raises(ValueError, match=r"the class 'c', which the model has not seen.*classes=\["):
        credence.Lda().partial_fit(X, labels).partial_fit(X[:1], ["c"])


def test_docstrings_tell_what_an_update_keeps():
    assert "hyper-parameters stay" in credence.Gp.partial_fit.__doc__
    assert "the same as a fit to all rows" in credence.BayesLinear.partial_fit.__doc__
    assert "the same as a fit to all rows" in credence.Lda.partial_fit.__doc__


@pytest.mark.parametrize("kernel", [3, 2.5, True, ["rbf"]])
def test_a_number_is_no_kernel(Xy, kernel):
    with pytest.raises(ValueError, match="kernel must be a text, such as '.+', not"):
        credence.Gp(kernel=kernel).fit(*Xy)

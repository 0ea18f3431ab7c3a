"""Pickles hold the bytes of the model file; what they give back answers to the last bit the same."""
import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
from conftest import ESTIMATORS, answers, columns_for, target_for

import credence


@pytest.mark.parametrize("made", ESTIMATORS)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_round_trip(made, protocol, Xy):
    X, y = Xy
    frame = pd.DataFrame(columns_for(made, X), columns=list("abcd"))
    model = made(seed=5).fit(frame, target_for(made, y))
    twin = pickle.loads(pickle.dumps(model, protocol))
    assert twin.get_params() == model.get_params() and list(twin.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(answers(twin, frame), answers(model, frame))
    assert {**twin.report_, "seconds": 0} == {**model.report_, "seconds": 0}


def test_before_fit():
    twin = pickle.loads(pickle.dumps(credence.Ridge(lambda_=3)))
    assert twin.lambda_ == 3 and not twin.__sklearn_is_fitted__()


def test_a_pickle_holds_the_model_file(Xy, tmp_path):
    model = credence.Ridge().fit(*Xy)
    data = model._model.to_bytes()
    assert data in pickle.dumps(model)
    model.save(tmp_path / "m.cred")
    assert (tmp_path / "m.cred").read_bytes() == data
    assert "model.json" in zipfile.ZipFile(io.BytesIO(data)).namelist()


def test_a_damaged_pickle_is_refused(Xy):
    data = bytearray(credence.Ridge().fit(*Xy)._model.to_bytes())
    data[len(data) // 2] ^= 1
    with pytest.raises(ValueError, match="the pickled model"):
        credence._model.Model.from_bytes(bytes(data))


def test_errors_can_be_pickled(Xy):
    import sklearn.exceptions
    with pytest.raises(credence.NotFittedError) as caught:
        credence.Ridge().predict(Xy[0])
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, sklearn.exceptions.NotFittedError) and isinstance(again, credence.NotFittedError)
    assert str(again) == str(caught.value)

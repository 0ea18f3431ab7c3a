"""Classes of any type: to the texts of the library and back."""
import numpy as np
import pandas as pd
import pytest

import credence
from credence import _labels, _model, _registry, _supervised
from credence._columns import level_text


@pytest.mark.parametrize("labels, texts", [
    ([2, 10, 2, 1], ["1", "2", "10"]), ([2.0, 10.0, 2.0, 1.0], ["1", "2", "10"]),
    (["b", "a", "b", "c"], ["a", "b", "c"]), ([True, False, True, True], ["false", "true"]),
    (np.array(["x", "y", "x", "x"], dtype=object), ["x", "y"]), (pd.Categorical([3, 1, 3, 3]), ["1", "3"])])
def test_column(labels, texts):
    column = _labels.column(labels)
    assert column.texts == texts and column.codes.dtype == np.uint32
    assert [column.texts[k] for k in column.codes] == [level_text(v) for v in np.asarray(labels).tolist()]


@pytest.mark.parametrize("labels", [[1.5, 2], [np.nan, 1], [np.inf, 1], ["a", None], [1j, 2]])
def test_what_is_no_label(labels):
    with pytest.raises(ValueError, match="Unknown label type|NaN|Complex"):
        _labels.column(np.array(labels, dtype=object if None in labels else None))


@pytest.mark.parametrize("labels", [[1, 2, 10], [-3, 0, 7], ["a", "b"], [False, True], ["1.5", "a"],
                                    ["01", "2"]])
def test_texts_come_back(labels):
    texts = sorted(map(level_text, labels))     # as the library sorts them
    classes = _labels.from_texts(texts)
    np.testing.assert_array_equal(classes, np.unique(labels))
    assert [texts[k] for k in _labels.order(classes, texts)] == [level_text(v) for v in classes.tolist()]


class FakeModel:
    """Gives the probabilities it was made with, for classes in the order of their texts."""
    target, weights, converged, classes, task = "y", None, True, ["1", "10", "2"], 2

    def predict(self, table):
        return _model.Answers(classes=self.classes, probability=np.array([[0.1, 0.7, 0.2], [0.3, 0.1, 0.6]]))


def test_a_classifier_answers_in_its_classes(monkeypatch):
    options = credence.Ridge._options
    made = type("Sorts", (_supervised.Classifier,), {"_options": options, "_model_name": "sorts",
                                                     "__init__": _registry.make_init(options)})
    seen = []
    monkeypatch.setattr(_model.Model, "fit", lambda name, table, pairs: seen.append(table) or FakeModel())
    model = made().fit([[1.0], [2.0], [3.0]], [10, 2, 1])
    assert seen[0].types["y"] == "category" and list(seen[0]["y"]) == ["10", "2", "1"]
    assert list(model.classes_) == [1, 2, 10]
    X = [[0.0], [1.0]]
    np.testing.assert_array_equal(model.predict_proba(X), [[0.1, 0.2, 0.7], [0.3, 0.6, 0.1]])
    np.testing.assert_array_equal(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    assert list(model.predict(X)) == [10, 2]
    assert model.score(X, [10, 1]) == 0.5 and model.score(X, [10, 1], [3, 1]) == 0.75
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit([[1.0], [2.0]], [0.5, 1])


def test_names_of_classes_for_models_with_several_tasks():
    both = _registry.Declaration("two-ways", "", "", "", 3, [], False)
    kinds = list(_registry._kinds(both))
    assert [(kind.name, kind.task) for kind in kinds] == [("TwoWaysRegressor", "regression"),
                                                         ("TwoWaysClassifier", "classification")]
    one, = _registry._kinds(both._replace(tasks=2))
    assert one.name == "TwoWays" and one.task is None
    one, = _registry._kinds(both._replace(tasks=4 | 8, updates=True, tells_next=True))
    assert [base.__name__ for base in one.bases] == ["RowUpdates", "Next", "Cluster", "Density"]
    assert not list(_registry._kinds(both._replace(tasks=64)))

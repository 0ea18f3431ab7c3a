"""Models of sequences: symbols in a chain, labels in a row, hidden states; from fit to decoded paths."""
import pathlib
import pickle

import numpy as np
import pandas
import pytest

import credence


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    state = np.repeat([0, 1, 0, 1], 40)
    return pandas.DataFrame({"who": np.repeat(["a", "b"], 80), "x": 4.0 * state + rng.normal(size=160),
                             "word": np.where(rng.random(160) < 0.9, state, 1 - state).astype(str)}), state


def test_hidden_states(frame):
    data, state = frame
    model = credence.Hmm(states="2", sequence="who").fit(data[["who", "x"]])
    path, log_path = model.decode(data[["who", "x"]])
    assert max(np.mean(path == state), np.mean(path != state)) > 0.95
    assert len(set(log_path.tolist())) == 2                        # one for each sequence
    filtered, smoothed = model.predict_filtered(data[["who", "x"]]), model.predict_proba(data[["who", "x"]])
    assert np.allclose(filtered.sum(axis=1), 1) and np.allclose(filtered[[79, 159]], smoothed[[79, 159]])
    ahead = model.forecast(3)
    assert [row["ahead"] for row in ahead] == [1, 2, 3, 1, 2, 3] and sum(ahead[0]["p"].values()) == pytest.approx(1)
    x = ahead[0]["columns"]["x"]
    assert x["lower"] < x["mean"] < x["upper"] and 0 < x["sd"] < 5


def test_labels(frame):
    data, state = frame
    labels = np.where(state == 1, "on", "off")
    model = credence.Crf(sequence="who").fit(data[["who", "word"]], labels)
    path, _ = model.decode(data[["who", "word"]])
    assert np.mean(path == labels) > 0.95 and model.score(data[["who", "word"]], labels) > 0.95
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict_proba(data[["who", "word"]]), model.predict_proba(data[["who", "word"]]))


def test_several_paths(frame):
    data, state = frame
    model = credence.Hmm(states="2", sequence="who").fit(data[["who", "x"]])
    paths, log_path = model.decode(data[["who", "x"]], paths=4)
    best, log_best = model.decode(data[["who", "x"]])
    assert paths.shape == log_path.shape == (4, 160)
    assert np.array_equal(paths[0], best) and np.allclose(log_path[0], log_best)
    assert (np.diff(log_path, axis=0) <= 0).all() and len({tuple(path[:80]) for path in paths}) == 4
    assert (model.path_entropy(data[["who", "x"]]) >= 0).all()
    labels = np.where(state == 1, "on", "off")
    classes = credence.Crf(sequence="who").fit(data[["who", "word"]], labels)
    few, log_few = classes.decode(data[["who", "word"]][:2], paths=5)         # of two rows there are four
    assert np.exp(log_few[:4, 0]).sum() == pytest.approx(1) and np.isnan(log_few[4]).all() and few[4, 0] is None
    assert classes.path_entropy(data[["who", "word"]][:2])[0] == pytest.approx(-(np.exp(log_few) * log_few)[:4, 0].sum())
    with pytest.raises(ValueError, match="whole number"):
        model.decode(data[["who", "x"]], paths=0)


def test_symbols(frame):
    data, _ = frame
    model = credence.Markov(sequence="who", order="1").fit(data[["who", "word"]])
    assert np.allclose(model.predict_proba(data[["who", "word"]]).sum(axis=1), 1)
    with pytest.raises(ValueError, match="one column of symbols"):
        credence.Markov().fit(data)


def test_networks(tmp_path):
    examples = pathlib.Path(__file__).resolve().parents[2] / "examples"
    data = pandas.read_csv(examples / "umbrellas.csv")
    model = credence.Dbn(network=str(examples / "networks/umbrella.json"), sequence="town", time="day").fit(data)
    assert model.score_samples(data).sum() == pytest.approx(model.log_likelihood_)
    model.save(tmp_path / "learned.cred")
    answer = credence.Network(tmp_path / "learned.cred").query("P(rain[t=2] | umbrella[t=1..2]=yes)")
    assert answer["marginals"]["rain[t=2]"]["yes"] > 0.9
    with pytest.raises(ValueError, match="network, which is not given"):
        credence.Dbn().fit(data)

"""Topics from Python: mixes of documents, given as arrays, sparse matrices or data frames, and updates."""
import warnings

import credence
import numpy as np
import pytest
import scipy.sparse


def documents(n=60):
    """The first half of the terms in even documents, the other half in odd ones."""
    rng = np.random.default_rng(1)
    X = rng.poisson(3, size=(n, 8)).astype(float)
    X[::2, 4:] = 0
    X[1::2, :4] = 0
    return X


def test_mixes_sum_to_one_and_tell_documents_apart():
    X = documents()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = credence.Topics(k=2, sweeps=100, alpha=0.1, eta=0.1).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(Z.sum(axis=1), 1)
    assert (Z[::2].argmax(axis=1) == Z[0].argmax()).all() and (Z[1::2].argmax(axis=1) != Z[0].argmax()).all()
    np.testing.assert_array_equal(model.transform(scipy.sparse.csr_matrix(X)), Z)


def test_updates_are_on_line():
    X = documents()
    model = credence.Topics(k=2, infer="online", passes=2, batch=10).partial_fit(X[:30]).partial_fit(X[30:])
    np.testing.assert_allclose(model.transform(X).sum(axis=1), 1)


def test_what_is_no_document_is_refused():
    with pytest.raises(ValueError, match="must be a count"):
        credence.Topics(k=2).fit(documents() + 0.5)
    with pytest.raises(ValueError, match="cannot count more"):
        credence.Topics(k=2).fit(documents(), sample_weight=np.full(60, 2.0))

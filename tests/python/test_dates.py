"""Dates of pandas and NumPy, and terms, through the Python package."""
import numpy as np
import pandas as pd
import pytest

import credence


def days(n=60, **how):
    return pd.date_range("2023-01-29", periods=n, **how)


def test_dates_are_days_since_the_first():
    day = days()
    y = 3 + 0.5 * np.arange(60) + np.sin(np.arange(60))
    model = credence.Linear().fit(pd.DataFrame({"day": day}), y)
    plain = credence.Linear().fit(pd.DataFrame({"day": np.arange(60.0)}), y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-12)
    new = pd.DataFrame({"day": pd.to_datetime(["2023-06-01", "2023-06-02 12:00"])})
    since = (new["day"] - day[0]) / pd.Timedelta(days=1)
    np.testing.assert_allclose(model.predict(new), plain.predict(pd.DataFrame({"day": since})), rtol=1e-12)


@pytest.mark.parametrize("how", [{"freq": "h"}, {"freq": "D", "tz": "Europe/Berlin"}])
def test_times_and_zones(how):
    time = days(**how)
    y = np.arange(60.0)
    model = credence.Linear().fit(pd.DataFrame({"t": time}), y)
    naive = time.tz_convert(None) if time.tz else time
    again = credence.Linear().fit(pd.DataFrame({"t": naive}), y)
    np.testing.assert_array_equal(model.coef_, again.coef_)


def test_gaps_and_objects():
    table = credence.Table({"t": np.array(["2023-01-31", "NaT"], dtype="datetime64[D]"), "x": [1.0, 2.0]})
    assert np.isnan(table["t"][1]) and table["t"][0] == 19388


def test_terms_as_text_or_list():
    day = days()
    frame = pd.DataFrame({"day": day, "x": np.linspace(1, 5, 60), "kind": list("abc") * 20})
    y = np.log(frame["x"]) + (day.weekday >= 5)
    text = credence.Linear(terms="log(x), weekday(day), x:kind").fit(frame, y)
    listed = credence.Linear(terms=["log(x)", "weekday(day)", "x:kind"]).fit(frame, y)
    np.testing.assert_array_equal(text.predict(frame), listed.predict(frame))
    np.testing.assert_allclose(text.predict(frame), y, atol=1e-9)

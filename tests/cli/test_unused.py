"""Options that would have no effect are refused, their defaults never; and what a family cannot have."""
import pytest

ROWS = "x,z,y,k,tr,c\n" + "".join(
    f"{i},{(i * 7) % 5},{2 * i + (i % 3)},{i % 4},9,{'ab'[i % 2]}\n" for i in range(1, 31))


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(ROWS)
    return str(path)


REFUSED = [
    ("robust --target y --quantile 0.9", "--quantile requires --method quantile", "add --method quantile"),
    ("robust --target y --tuning 2", "--tuning requires --method huber", "add --method huber"),
    ("robust --target y --method lad --dof 3", "--dof requires --method student", "add --method student"),
    ("glm --target k --family poisson --trials tr", "--trials requires --family binomial", "leave --trials out"),
    ("glm --target k --family poisson --overdispersion 2",
     "--overdispersion requires --family negative-binomial", "leave --overdispersion out"),
    ("linear --target y --criterion aic", "--criterion requires --select best|forward|backward",
     "add --select best"),
    ("linear --target y --cv-folds 5", "--cv-folds requires --select best|forward|backward", "add --select best"),
    ("linear --target y --weights-are precisions", "--weights-are requires --weights:", "add --weights"),
    ("naive-bayes --target c --bandwidth 0.3", "--bandwidth requires --numbers kernel", "add --numbers kernel"),
    ("tree --target y --criterion entropy", "--criterion is for classification", "leave --criterion out"),
    ("tree --target y --prune none --prune-folds 5", "--prune-folds requires --prune auto|min", "add --prune auto"),
    ("adaboost --target c --min-leaf 3", "--min-leaf requires --form gradient", "add --form gradient"),
    ("logistic --target c --lambda 1 --l1-ratio 0.2", "--l1-ratio requires --penalty elastic",
     "add --penalty elastic"),
    ("logistic --target c --batch 8", "--batch requires --solver sgd", "add --solver sgd"),
]


@pytest.mark.parametrize("words, what, hint", REFUSED)
def test_without_effect(credence, data, words, what, hint):
    model, *rest = words.split()
    code, out, err = credence("fit", model, data, *rest)
    assert (code, out) == (2, "") and what in err and hint in err


@pytest.mark.parametrize("words", [
    "robust --target y --quantile 0.5 --tuning 1.345",
    "robust --target y --method quantile --quantile 0.9",
    "robust --target y --method huber --tuning 2",
    "linear --target y --criterion auto --cv-folds 10 --weights-are repetitions",
    "linear --target y --select best --criterion cv --cv-folds 5",
    "linear --target y --weights tr --weights-are precisions",
    "naive-bayes --target c --numbers x=kernel --bandwidth 0.3",
    "tree --target y --criterion gini",
    "tree --target c --criterion entropy",
    "adaboost --target y --min-leaf 3",
    "adaboost --target c --min-leaf 1",
    "logistic --target c --l1-ratio 0.5 --lambda 1",
])
def test_with_effect_or_default(credence, data, words):
    model, *rest = words.split()
    code, _, err = credence("fit", model, data, *rest)
    assert code == 0 and "effect" not in err and "requires" not in err


def test_a_penalty_of_nothing_is_told(credence, data):
    code, _, err = credence("fit", "logistic", data, "--target", "c", "--penalty", "l1")
    assert code == 0 and "--penalty has no effect without --lambda" in err


def test_counts_are_whole(credence, data, tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("x,y\n1,2\n2,21.6\n3,4\n4,4\n")
    code, _, err = credence("fit", "glm", str(path), "--target", "y", "--family", "poisson")
    assert code == 3 and "p.csv:3: the target 'y' is 21.6, but this family needs whole numbers" in err


@pytest.mark.parametrize("family, link", [("gaussian", "logit"), ("gamma", "probit"), ("poisson", "cauchit")])
def test_links_that_cannot_fit(credence, data, family, link):
    words = ("fit", "glm", data, "--target", "y", "--family", family, "--link")
    code, _, err = credence(*words, link)
    assert code == 2 and f"--link {link} gives means between 0 and 1" in err and "suitable links: identity, log" in err
    assert credence(*words, "log")[0] == 0

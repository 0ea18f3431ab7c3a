"""What --json prints is what the schema says, no more and no less."""
import json
import subprocess

import pytest

from conftest import BURGLARY, DIABETES

GAUSSIAN = BURGLARY.with_name("temperature.json")
SLICES = BURGLARY.with_name("umbrella.json")
NOISY = BURGLARY.parents[1] / "denoise/noisy.pgm"

jsonschema = pytest.importorskip("jsonschema")


def closed(schema):
    """The schema in the test's view: objects have no key that is not declared."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if "properties" in schema and isinstance(schema.get("type"), (str, list)):
            schema.setdefault("additionalProperties", False)
    return [closed(item) for item in schema] if isinstance(schema, list) else schema


def keys_of(value, schema, path=""):
    """Paths of all declared keys that stand in the value."""
    if isinstance(value, list):
        for item in value:
            yield from keys_of(item, schema.get("items", {}), path + "[]")
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key in schema.get("properties", {}):
                yield f"{path}.{key}"
                yield from keys_of(inner, schema["properties"][key], f"{path}.{key}")


def declared(schema, path=""):
    for key, inner in schema.get("properties", {}).items():
        yield f"{path}.{key}"
        yield from declared(inner, f"{path}.{key}")
    if "items" in schema:
        yield from declared(schema["items"], path + "[]")


@pytest.fixture(scope="module")
def schemas(credence, tmp_path_factory):
    return read_schemas(credence, tmp_path_factory)


def read_schemas(program, tmp_path_factory):
    files = program.document("schema", tmp_path_factory.mktemp("schema"))
    return {name.split(".")[1]: json.loads(text) for name, text in files.items()}


@pytest.fixture(scope="module")
def toy_schemas(toy, tmp_path_factory):
    return {"toy " + verb: schema for verb, schema in read_schemas(toy, tmp_path_factory).items()}


def toy_results(toy, place):
    """The same for kinds of answers that only toy models give."""
    (place / "kinds.csv").write_text("id,x,c,n\n01,1,red,0\n02,,red,1\n03,4,blue,1\n04,2,blue,3\n")
    (place / "loss.csv").write_text("action,red,blue\na,0,1\nb,2,0\n")
    commands = [
        ["fit", "toy-normal", "kinds.csv", "--features", "x,c", "-o", "density.cred"],
        ["fit", "toy-centres", DIABETES, "--features", "bmi,bp", "-o", "cluster.cred"],
        ["fit", "toy-axes", DIABETES, "--features", "bmi,bp", "-o", "axes.cred"],
        ["fit", "toy-smooth", "kinds.csv", "--target", "c", "--features", "x", "--missing", "drop", "-o", "class.cred"],
        ["fit", "toy-smooth", "kinds.csv", "--target", "n", "--features", "x", "--missing", "drop", "--family",
         "poisson", "-o", "count.cred"],
        ["predict", "density.cred", "kinds.csv"], ["predict", "density.cred", "--loss", "squared"],
        ["predict", "cluster.cred", DIABETES], ["predict", "axes.cred", DIABETES],
        ["predict", "class.cred", "kinds.csv", "--draws", "2", "--id", "id,n", "--loss", "loss.csv"],
        ["predict", "count.cred", "kinds.csv", "--draws", "2", "--loss", "absolute"],
        ["evaluate", "density.cred", "kinds.csv", "--rows"], ["evaluate", "class.cred", "kinds.csv", "--rows"],
        ["evaluate", "count.cred", "kinds.csv"], ["cv", "toy-normal", "kinds.csv", "--folds", "2"],
        ["sample", "density.cred", "-n", "3"], ["describe", "density.cred"],
    ]
    return [("toy " + command[0], command, toy.json(*command, cwd=place)) for command in commands]


@pytest.fixture(scope="module")
def results(credence, toy, schemas, tmp_path_factory):
    """(verb, arguments, result) of every verb, also in corners."""
    place = tmp_path_factory.mktemp("results")
    (place / "wide.csv").write_text("a,b,c,d,e,y\n1,2,3,1,5,1\n2,1,4,3,1,2\n5,5,1,2,2,4\n")
    (place / "few.csv").write_text("x,z,g,y\n" + "".join(
        f"{i},{i * 5 % 7},{'uvw'[i % 3]},{i * i % 11 + 3 * (i % 3)}\n" for i in range(12)))
    (place / "constant.csv").write_text("x,y\n1,3\n2,3\n4,3\n7,3\n")
    pairs = [(a, b) for b in range(18) for a in range(b)]
    (place / "wide.uai").write_text(f"MARKOV 18 {'2 ' * 18} {len(pairs)} " + " ".join(f"2 {a} {b}" for a, b in pairs)
                                    + " 4 1 2 3 1" * len(pairs))
    (place / "doors.csv").write_text("choice,opened\nleft,left\nleft,right\n")  # the first is impossible
    (place / "days.csv").write_text("umbrella\nyes\n\nno\n")
    (place / "readings.csv").write_text("read_monday,tuesday\n18,\n,9\n")
    chain = {"a": ((), "0.3, 0.7"), "b": ("a", "(0) 1, 0; (1) 0, 1"), "c": ("b", "(0) 0.2, 0.8; (1) 0.6, 0.4")}
    for name, parents in (("chain", chain), ("apart", {v: ((), "0.3, 0.7") for v in chain})):
        (place / f"{name}.bif").write_text("network n { }\n" + "".join(
            f"variable {v} {{ type discrete [ 2 ] {{ 0, 1 }}; }}\n"
            f"probability ( {v}{' | ' + p if p else ''} ) {{ {t if p else 'table ' + t}; }}\n" for v, (p, t) in parents.items()))
    (place / "mixed.csv").write_text("x,kind,w,y\n1,a,1,2\n2,b,2,\n,a,1,4\n4,b,0.5,5\n5,a,1,7\n6,b,1,7\n")
    (place / "one.csv").write_text("x,y\n1,3\n")
    (place / "dated.csv").write_text("day,share,y\n" + "".join(f"2023-01-{i + 1:02},{i * 7 % 9}%,{i * i % 5}\n"
                                                               for i in range(9)))
    (place / "sparse.libsvm").write_text("1 1:2 40:1\n2 3:1\n")
    target = [str(DIABETES), "--target", "progression"]
    examples = DIABETES.parent
    sequences = [
        ["fit", "hmm", examples / "earthquakes.csv", "--features", "count", "--emission", "poisson", "--states", "1:2",
         "-o", "h.cred"],
        ["describe", "h.cred"], ["predict", "h.cred", examples / "earthquakes.csv", "--decode", "viterbi"],
        ["predict", "h.cred", examples / "earthquakes.csv", "--decode", "viterbi", "--paths", "2"],
        ["fit", "markov", examples / "weather.csv", "--features", "weather", "--sequence", "station", "--order", "0:2",
         "-o", "w.cred"],
        ["describe", "w.cred"], ["predict", "w.cred", "--ahead", "2"],
        ["fit", "markov", examples / "machines.csv", "--features", "state", "--sequence", "machine", "--time", "hours",
         "--continuous", "-o", "c.cred"], ["describe", "c.cred"],
        ["fit", "hmm", examples / "earthquakes.csv", "--features", "count", "--emission", "poisson", "--states", "2",
         "--duration", "2", "--restarts", "2", "-o", "l.cred"], ["describe", "l.cred"],
        ["fit", "kalman", examples / "nile.csv", "--target", "flow", "--time", "time", "-o", "k.cred"],
        ["describe", "k.cred"], ["predict", "k.cred", examples / "nile.csv", "--smoothed", "--parts"],
        ["predict", "k.cred", examples / "nile.csv", "--ahead", "2"], ["predict", "h.cred", "--ahead", "2"],
        ["fit", "crf", examples / "ingredients.csv", "--target", "tag", "--sequence", "line", "--features", "word",
         "-o", "f.cred"], ["describe", "f.cred"],
        ["fit", "topics", examples / "headlines.csv", "--text", "headline", "--k", 2, "--sweeps", 20, "-o", "topics.cred"],
        ["describe", "topics.cred"],
        ["fit", "glasso", DIABETES, "--features", "age,bmi,bp", "-o", "graph.cred"], ["update", "graph.cred", DIABETES],
        ["describe", "graph.cred"],
        ["fit", "gaussian-bn", DIABETES, "--features", "age,bmi,bp", "-o", "n.cred"], ["describe", "n.cred"],
        ["fit", "loglinear", examples / "commute.csv", "-o", "e.cred"], ["describe", "e.cred"],
        ["fit", "svm", examples / "iris.csv", "--target", "species", "--features", "petal*", "--calibrate", "platt",
         "-o", "s.cred"], ["describe", "s.cred"], ["predict", "s.cred", examples / "iris.csv", "--decision"],
        ["fit", "svm", DIABETES, "--target", "sex", "--features", "bmi,bp", "--task", "classification", "--path", "0.1,1",
         "-o", "p.cred"], ["describe", "p.cred"], ["predict", "p.cred", DIABETES],
        ["fit", "svr", *target, "--features", "bmi,bp", "-o", "r.cred"],
        ["fit", "rvm", *target, "--features", "bmi", "--kernel", "rbf", "-o", "v.cred"], ["describe", "v.cred"],
        ["fit", "rvm", examples / "iris.csv", "--target", "species", "--features", "petal*", "--kernel", "rbf", "-o", "u.cred"], ["describe", "u.cred"],
        ["plot", "u.cred", examples / "iris.csv", "--kind", "map"],
        ["fit", "dbn", examples / "umbrellas.csv", "--network", examples / "networks/umbrella.json", "--sequence", "town",
         "--time", "day", "-o", "d.cred"], ["describe", "d.cred"], ["query", "d.cred", "P(rain[t=2] | umbrella[t=1]=yes)"],
    ]
    commands = [
        ["fit", "linear", *target, "-o", "linear.cred"],
        ["fit", "linear", *target, "--basis", "poly:2", "--missing", "drop"],
        ["fit", "kmeans", "few.csv", "--features", "x,z", "--k", "1:3", "-o", "clusters.cred"],
        ["describe", "clusters.cred"], ["predict", "clusters.cred", "few.csv"],
        ["fit", "linear", "constant.csv", "--target", "y", "-o", "constant.cred"],
        ["fit", "linear", "mixed.csv", "--target", "y", "--weights", "w", "--missing", "drop", "-o", "mixed.cred"],
        ["fit", "linear", "one.csv", "--target", "y", "--no-intercept"],
        ["fit", "linear", "dated.csv", "--target", "y", "--missing-values=-9", "-o", "dated.cred"],
        ["describe", "dated.csv"], ["describe", "dated.cred"], ["update", "dated.cred", "dated.csv"],
        ["fit", "linear", *target, "--select", "best", "--criterion", "cv", "-o", "select.cred"],
        ["fit", "lasso", *target, "-o", "lasso.cred"],
        ["fit", "lasso", "constant.csv", "--target", "y"],
        ["fit", "ridge", *target, "-o", "ridge.cred"],
        ["fit", "ridge", "wide.csv", "--target", "y"],
        ["fit", "bayes-linear", *target, "-o", "bayes.cred"],
        ["fit", "bayes-linear", *target, "--prior", "nig", "-o", "nig.cred"],
        ["fit", "bayes-linear", "wide.csv", "--target", "y", "--optimize", "em", "--max-iter", "1"],
        ["fit", "bayes-linear", "wide.csv", "--target", "y", "--optimize", "none", "--alpha", "1", "--noise", "1"],
        ["fit", "bayes-linear", "few.csv", "--target", "y", "--terms", "x, (1 | g)", "-o", "groups.cred"],
        ["describe", "groups.cred"],
        ["fit", "gp", "wide.csv", "--target", "y", "--hyper", "mcmc", "--draws-hyper", "8", "-o", "chains.cred"],
        ["describe", "chains.cred"],
        ["fit", "gp", "wide.csv", "--target", "y", "--hyper", "map", "-o", "process.cred"], ["predict", "process.cred", "wide.csv", "--slopes"],
        ["fit", "kernel-pca", DIABETES, "--features", "bmi,bp", "-o", "pca.cred"],
        ["predict", "pca.cred", DIABETES, "--reconstruct"],
        ["fit", "qda", DIABETES, "--target", "sex", "--task", "classification", "-o", "qda.cred"],
        ["predict", "qda.cred", DIABETES, "--log-joint"],
        ["fit", "logistic", DIABETES, "--target", "sex", "--exp", "-o", "logistic.cred"],
        ["describe", "logistic.cred", "--exp"],
        ["evaluate", "qda.cred", DIABETES, "--loss", "0-1"],
        ["plot", "qda.cred", DIABETES, "--kind", "importance", "--over", "bmi"],
        ["plot", "qda.cred", DIABETES, "--kind", "dependence", "--over", "bmi,bp"],
        ["update", "process.cred", "wide.csv"],
        ["fit", "ridge", *target, "--transform-target", "log", "-o", "log.cred"], ["describe", "log.cred"],
        ["update", "log.cred", DIABETES], ["predict", "log.cred", DIABETES],
        ["fit", "tree", *target, "-o", "tree.cred"], ["describe", "tree.cred"],
        ["fit", "tree", DIABETES, "--target", "sex", "--task", "classification", "-o", "sex.cred"],
        ["describe", "sex.cred"],
        ["fit", "adaboost", *target, "--rounds", "3", "-o", "boost.cred"], ["describe", "boost.cred"],
        ["fit", "normal", DIABETES, "--features", "bmi,bp", "-o", "normal.cred"],
        ["fit", "mvn", DIABETES, "--features", "bmi,bp"],
        ["fit", examples / "schools.model", examples / "schools.csv", "--draws", "100", "--warmup", "100",
         "-o", "schools.cred"], ["describe", "schools.cred"],
        ["fit", "gmm", DIABETES, "--features", "bmi,bp", "--k", "1:2", "-o", "gmm.cred"], ["describe", "gmm.cred"],
        ["plot", "gmm.cred", DIABETES], ["plot", "gmm.cred"], ["plot", "gmm.cred", DIABETES, "--kind", "components"],
        ["fit", "pca", DIABETES, "--features", "bmi,bp,s1", "--components", "2", "-o", "plane.cred"],
        ["plot", "plane.cred", DIABETES], ["plot", "plane.cred"], ["plot", "plane.cred", "--kind", "loadings"],
        ["fit", "mixture", DIABETES, "--features", "bmi,sex", "--k", "1:2", "--e-step", "mc", "--restarts", "1", "--tol",
         "1e-3", "-o", "mixture.cred"], ["describe", "mixture.cred"],
        ["fit", "fa", DIABETES, "--features", "bmi,bp,s*", "--rotation", "promax", "-o", "fa.cred"], ["describe", "fa.cred"],
        ["fit", "beta-bernoulli", "mixed.csv", "--features", "kind", "-o", "yes.cred"],
        ["fit", "dirichlet-categorical", "mixed.csv", "--features", "kind,w", "--category", "w"],
        ["predict", "yes.cred"], ["update", "yes.cred", "mixed.csv"], ["describe", "yes.cred"], ["describe", "normal.cred"],
        ["compare", "normal", DIABETES, "--by", "sex", "--features", "bmi",
         "--prior", "mean0=25,kappa0=1,nu0=2,var0=16"],
        ["compare", "bayes-linear", *target, "--by", "sex"],
        ["compare", "gp", *target, "--by", "sex", "--features", "bmi,bp", "--optimize", "none",
         "--gradient"],
        ["compare", "linear", "ridge:lambda=3", *target, "--folds", "3", "--repeats", "2"],
        ["compare", "bayes-linear", "bayes-linear:features=bmi", *target, "--folds", "3", "--repeats", "2", "--average"],
        ["tune", "ridge", *target, "--over", "lambda=1|10", "--folds", "3", "--rule", "1se", "-o", "tuned.cred"],
        ["tune", "ridge", *target, "--over", "lambda=1..10", "--folds", "3", "--search", "random", "--draws", "2"],
        ["cv", "ridge", *target, "--folds", "3", "--repeats", "2"],
        ["cv", "robust", *target, "--folds", "3", "--method", "quantile", "--quantile", "0.9"],
        ["fit", "robust", *target, "--method", "quantile", "--quantile", "0.9", "-o", "quantile.cred"],
        ["evaluate", "quantile.cred", DIABETES],
        ["fit", "naive-bayes", DIABETES, "--target", "sex", "--calibrate", "isotonic", "-o", "isotonic.cred"],
        ["describe", "isotonic.cred"], ["update", "isotonic.cred", DIABETES],
        ["fit", "linear", *target, "--calibrate", "conformal", "-o", "conformal.cred"], ["describe", "conformal.cred"],
        ["tune", "ridge", *target, "--over", "lambda=1|2", "--folds", "2", "--repeats", "2"],
        ["fit", "naive-bayes", DIABETES, "--target", "sex", "--calibrate", "platt", "-o", "calibrated.cred"],
        ["describe", "calibrated.cred"], ["update", "calibrated.cred", DIABETES],
        ["cv", "lda", DIABETES, "--target", "sex", "--folds", "3", "--positive", "1"],
        ["cv", "linear", *target, "--bootstrap", "3", "--bias-variance"],
        ["cv", "logistic", DIABETES, "--target", "sex", "--bootstrap", "3", "--bias-variance"],
        ["cv", "linear", *target, "--folds", "3", "--learning-curve", "0.5,1"],
        ["cv", "linear", *target, "--bootstrap", "20", "--parameters", "--interval-method", "bca"],
        ["cv", "linear", "few.csv", "--target", "y", "--features", "x,z", "--jackknife"],
        ["update", "bayes.cred", DIABETES, "-o", "updated.cred"],
        ["update", "ridge.cred", DIABETES],
        ["fit", "lda", DIABETES, "--target", "sex", "-o", "lda.cred"], ["update", "lda.cred", DIABETES],
        ["fit", "fisher", DIABETES, "--target", "sex", "-o", "fisher.cred"], ["describe", "lda.cred"],
        ["predict", "fisher.cred", DIABETES, "--coordinates"], ["predict", "lda.cred", DIABETES],
        ["fit", "adaboost", DIABETES, "--target", "sex", "--rounds", "3", "-o", "votes.cred"], ["describe", "votes.cred"],
        ["predict", "bayes.cred", DIABETES],
        ["fit", "bayes-logistic", DIABETES, "--target", "sex", "--features", "bmi,bp", "-o", "odds.cred"],
        ["predict", "odds.cred", DIABETES, "--interval", "0.9"],
        ["fit", "glm", *target, "--features", "bmi", "--family", "gamma", "-o", "gamma.cred"],
        ["predict", "gamma.cred", DIABETES, "--interval", "0.9"],
        ["fit", "bayes-linear", *target, "--noise-model", "bmi"],
        ["predict", "linear.cred", DIABETES, "--leverage", "--interval", "0.5"],
        ["predict", "mixed.cred", "mixed.csv"],
        ["predict", "constant.cred", "constant.csv"],
        ["predict", "nig.cred", DIABETES],
        ["evaluate", "bayes.cred", DIABETES],
        ["evaluate", "constant.cred", "constant.csv"],
        ["evaluate", "mixed.cred", "mixed.csv"],
        ["cv", "ridge", *target, "--folds", "4", "--lambda", "3"],
        ["cv", "linear", "mixed.csv", "--target", "y", "--folds", "2", "--features", "x", "--missing", "drop"],
        ["describe", DIABETES], ["describe", "mixed.csv"], ["describe", "one.csv"],
        ["describe", "sparse.libsvm"],
        ["describe", "select.cred"], ["describe", "lasso.cred"],
        ["describe", "bayes.cred"], ["describe", "nig.cred"], ["describe", "mixed.cred"], ["describe", "linear.cred"],
        ["describe", "linear.cred", "--covariance"],
        ["fit", "gp", "few.csv", "--target", "y", "--features", "x,z", "--approx", "vfe", "--inducing", "3",
         "--optimize", "none", "--noise", "0.1", "--gradient", "-o", "sparse.cred"],
        ["describe", "sparse.cred", "--inducing"],
        ["fit", "gp-online", "few.csv", "--target", "y", "--features", "x,z", "-o", "online.cred"],
        ["update", "online.cred", "few.csv"],
        ["check", DIABETES], ["check", "nig.cred"],
        ["plot", "bayes.cred", DIABETES], ["plot", "bayes.cred", DIABETES, "--kind", "residuals"],
        ["plot", "lda.cred", DIABETES, "--kind", "calibration"],
        ["fit", "gp", "few.csv", "--target", "y", "--features", "x,z,g", "--kernel", "rbf(x) + rbf(z) + hamming(g)",
         "-o", "parts.cred"],
        ["fit", "gp", "few.csv", "--target", "y", "--features", "x,z", "-o", "map.cred"],
        ["plot", "parts.cred", "few.csv", "--kind", "components"], ["plot", "map.cred", "few.csv", "--kind", "map"],
        ["plot", "map.cred", "few.csv", "--kind", "evidence"],
        ["dist"], ["dist", "beta"], ["dist", "beta", "12", "3"], ["dist", "normal", "--fit", f"{DIABETES}:bmi"],
        ["dist", "gamma", "2", "3", *"--mean --variance --sd --mode --entropy --natural --plot".split(),
         *"--pdf 1 --logpdf 1,-1 --cdf 1 --sf 1 --logcdf 1 --logsf 1 --quantile 0,1".split(),
         *"--interval 0.9 --hdi 0.9 --kl 2,4 --sample 2".split()],
        ["dist", "student-t", "1.5", "0", "1", "--variance", "--quantile", "0,1"],
        ["dist", "beta", "0.5", "0.5", "--plot", "--logpdf", "0,2"],
        ["dist", "mvn", "0,1", "2,0.6;0.6,1", "--mean", "--variance", "--mode", "--logpdf", "0,1", "--sample", "2"],
        ["info", DIABETES, "--bootstrap", "20"], ["info", "mixed.csv", "--bootstrap", "0"],
        ["info", DIABETES, "--columns", "sex", "--given", "bmi", "--bootstrap", "20"],
        ["info", DIABETES, "--mutual", "sex,bmi", "--permutations", "2"],
        ["info", DIABETES, "--matrix", "--columns", "sex,bmi", "--permutations", "2"],
        ["info", DIABETES, "--blanket", "bmi"], ["info", DIABETES, "--rows", "--top", "2"], ["info", DIABETES, DIABETES, "--columns", "sex"],
        ["info", DIABETES, DIABETES, "--mmd", "--linear"],
        ["info", DIABETES, DIABETES, "--mmd", "--columns", "bmi", "--permutations", "9"],
        ["info", "--source", "0.5,0.5", "--length", "9"], ["info", DIABETES, "--source", "sex"],
        ["describe", BURGLARY], ["describe", BURGLARY.with_name("misconception.uai")], ["check", BURGLARY],
        ["query", BURGLARY, "P(mary | alarm=on)", "P(*)", "P(john, mary)", "P(john=yes)", "argmax(* | john=yes)",
         "burglary _|_ mary | alarm", "H(alarm)", "I(john; mary)", "I(burglary; * | john=yes)"],
        ["query", BURGLARY, "best(3; * | john=yes)", "causes(* | john=yes)", "sensitivity(4; burglary=yes | john=yes)"],
        ["query", BURGLARY.with_name("misconception.uai"), "sensitivity(2; x0=0 | x1=1)"],
        ["query", BURGLARY.with_name("monty-hall.bif"), "P(choice=left, opened=left)"],
        *(["query", BURGLARY, "P(* | john=yes)", "argmax(*)", "--method", m]
          for m in ["bp", "trw", "gbp", "mean-field", "likelihood-weighting", "importance", "gibbs"]),
        ["query", BURGLARY, "P(mary | alarm=on)", "--budget", "0"],
        ["query", BURGLARY, "P(mary | alarm=on)", "--verbose"],
        ["query", BURGLARY, "P(*)", "--method", "forward", "--samples", "100000000", "--time-limit", "3s"],
        ["infer", BURGLARY, BURGLARY.with_name("calls.csv"), "--method", "likelihood-weighting", "--samples", "100000000",
         "--time-limit", "3s"],
        ["query", BURGLARY, "causes(* | alarm=on)", "--method", "gibbs"],
        ["query", "wide.uai", "P(x0)", "--memory-limit", "900K"],
        ["query", "chain.bif", "parents(b)", "blanket(b)", "order()", "moral()", "cliques()", "chordal()",
         "b _|_ c | a", "imap(chain.bif)"],
        ["describe", BURGLARY.with_name("diagnosis.json")], ["describe", GAUSSIAN], ["check", GAUSSIAN],
        ["query", GAUSSIAN, "P(monday | tuesday=9)", "P(*)", "P(monday, tuesday)", "P(monday=1)", "argmax(*)",
         "monday _|_ wednesday | tuesday", "H(monday)", "I(monday; tuesday)", "I(monday; *)"],
        ["infer", GAUSSIAN, "readings.csv"], ["infer", BURGLARY.with_name("monty-hall.bif"), "doors.csv"],
        ["infer", BURGLARY, BURGLARY.with_name("calls.csv"), "--target", "burglary"],
        ["describe", SLICES], ["check", SLICES], ["infer", SLICES, "days.csv", "--filtered"],
        ["query", SLICES, "P(rain[t=2] | umbrella[t=1]=yes)", "P(* | umbrella[t=300]=yes)", "P(rain[t=1], rain[t=400])",
         "argmax(* | umbrella[t=300]=yes)", "children(rain[t=1])", "--verbose"],
        *(["infer", BURGLARY, BURGLARY.with_name("calls.csv"), "--method", m]
          for m in ["bp", "trw", "gbp", "mean-field", "likelihood-weighting", "importance", "gibbs"]),
        ["denoise", NOISY, "--truth", NOISY.with_name("truth.pgm")], ["denoise", NOISY, "--method", "gibbs"],
        *sequences,
        ["models"], *(["models", name] for name in credence.complete("models", "")[0]),
        ["version"], *([["help"], ["help", "fit"]] if "help" in schemas else []),
    ]
    ours = [(command[0], command, credence.json(*command, cwd=place)) for command in commands]
    negative = ["query", BURGLARY, "burglary _|_ mary"]          # the answer is no: exit code 1
    ours.append(("query", negative, json.loads(credence(*negative, "--json", code=1))))
    credence("convert", BURGLARY, place / "b.uai")
    credence("query", place / "b.uai", "P(*)", "-o", place / "b.MAR")
    for command, code in ((["query", place / "b.uai", "P(*)", "--against", place / "b.MAR"], 0),
                          (["query", place / "apart.bif", f"imap({place / 'chain.bif'})"], 1),
                          (["query", BURGLARY, "P(john)", "causes(burglary)"], 2)):
        ours.append(("query", command, json.loads(credence(*command, "--json", code=code))))
    return ours + toy_results(toy, place)


def test_schemas_are_schemas(schemas):
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_results_are_valid(schemas, toy_schemas, results):
    validators = {verb: [jsonschema.Draft202012Validator(s) for s in (schema, closed(schema))]
                  for verb, schema in (schemas | toy_schemas).items()}
    for verb, command, result in results:
        for validator in validators[verb]:
            assert not list(validator.iter_errors(result)), command


def test_every_verb_is_looked_at(schemas, results):
    assert set(schemas) == {verb.removeprefix("toy ") for verb, _, _ in results}


def test_verbs_without_a_schema_print_no_json(credence, schemas, tmp_path):
    for verb in set(credence.complete("")[0]) - set(schemas):
        arguments = {"convert": [DIABETES, "-"], "completion": ["bash"],
                     "plot": ["absent.cred", DIABETES, "-o", "x.svg"]}
        done = subprocess.run([credence.path, verb, *arguments.get(verb, []), "--json"], cwd=tmp_path,
                              capture_output=True, text=True)
        assert not done.stdout.startswith("{"), f"{verb} prints JSON, but has no table .result"


def test_nothing_is_declared_that_never_comes(schemas, results):
    seen = {verb: set() for verb in schemas}
    for verb, _, result in results:
        seen[verb.removeprefix("toy ")] |= set(keys_of(result, schemas[verb.removeprefix("toy ")]))
    never = {verb: {key for key in set(declared(schema)) - seen[verb] if not key.startswith(".statistics.")}
             for verb, schema in schemas.items()}                # those of all models: tests/models/test_golden.c
    for verb in ("fit", "update"):                               # which models are updated is not the point
        never[verb] -= {".parameters[].t", ".parameters[].p", ".log_likelihood", ".log_evidence"}
    never["update"] -= {key for key in never["update"]
                        if key.startswith((".tree", ".rounds", ".path", ".subsets", ".choice", ".groups", ".parameters[].rhat", ".parameters[].ess",
                                           ".parameters[].gradient", ".parameters[].z", ".parameters[].exp", ".coefficients", ".conformal",
                                           ".candidates", ".covariances", ".tried", ".kinds", ".states", ".durations", ".symbols", ".classes", ".contexts", ".orders", ".numbers", ".communalities", ".factor_correlations", ".machines", ".prices", ".topics", ".summary", ".relevance", ".precision", ".graphs", ".arcs", ".edges", ".calibration[].against"))}
    chains = ("q5", "q50", "q95", "ess_bulk", "ess_tail", "r_hat", "mcse")       # a program is not updated or compared
    never["update"] -= {f".parameters[].{key}" for key in chains}
    never["compare"] -= {f".groups[].parameters[].{key}" for key in chains}
    never["compare"] -= {key for key in never["compare"] if key.startswith((".groups[].parameters[].exp", ".groups[].parameters[].z"))}
    never["compare"] -= {".groups[].parameters[].t", ".groups[].parameters[].p",  # no model that tests has one
                         ".groups[].parameters[].spread", ".groups[].parameters[].rhat",
                         ".groups[].parameters[].ess"}
    never = {verb: keys for verb, keys in never.items() if keys}
    assert not never, never


def test_nulls_are_met(results):
    """The corners really have nulls: otherwise the schema is not tested for them."""
    flat = json.dumps([result for _, _, result in results])
    assert flat.count("null") > 10


def test_installed_schemas_stay_open(schemas, results):
    """Results may gain keys: a program that validates must not break then."""
    verb, _, result = results[0]
    jsonschema.validate(result | {"news": 1}, schemas[verb], jsonschema.Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(result | {"news": 1}, closed(schemas[verb]), jsonschema.Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(result | {"rows": "442"}, schemas[verb], jsonschema.Draft202012Validator)

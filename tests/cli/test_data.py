"""Files that are not as they should be: one clear failure each, with its place, and nothing left behind."""
import os
import struct
import warnings
import zipfile
import zlib

import pytest

# --- data ------------------------------------------------------------------------------------------

BAD_DATA = {  # name: contents, options, what is said
    "empty": (b"", "--target y", ["bad.csv: the file is empty"]),
    "blank lines": (b"\n\n\n", "--target y", ["bad.csv"]),
    "header only": (b"a,y\n", "--target y", ["bad.csv: there is a header but no row"]),
    "ragged row": (b"a,y\n1,2\n3\n", "--target y", ["bad.csv:3:2: row has 1 field, the header has 2"]),
    "long row": (b"a,y\n1,2\n3,4,5\n", "--target y", ["bad.csv:3:", "row has 3 fields"]),
    "unclosed quote": (b'a,y\n1,"2\n3,4\n', "--target y", ["bad.csv:2:3: the quote that opens here"]),
    "text after quote": (b'a,y\n1,"2"x\n', "--target y", ["bad.csv:2:6: text after the closing quote"]),
    "NUL byte": (b"a,y\n1,2\n3,\0\n", "--target y", ["bad.csv:3:3: a NUL byte"]),
    "duplicate names": (b"a,a\n1,2\n", "--target a", ["bad.csv:1:3: two columns are called 'a'",
                                                       "--rename 'a.2=a_2'"]),
    "too large": (b"a,y\n1,2\n1e999,4\n", "--target y", ["bad.csv:3:1: 1e999 is out of range"]),
    "text where numbers must be": (b"a,y\n1,2\nx,4\n", "--target y --real a",
                                   ["bad.csv:3:1: 'x' in column 'a' is not a number", "--missing-values 'x'"]),
    "unknown column in --real": (b"aa,y\n1,2\n", "--target y --real ab", ["'ab'", "did you mean 'aa'?"]),
    "unknown column in --category": (b"aa,y\n1,2\n", "--target y --category ab", ["did you mean 'aa'?"]),
    "unknown target": (b"a,price\n1,2\n", "--target prise", ["column 'prise' not found in bad.csv",
                                                             "columns: a, price"]),
    "missing target": (b"a,y\n1,2\n3,\n4,5\n", "--target y", ["bad.csv:3: the target 'y' has no value"]),
    "NaN": (b"a,y\n1,2\nNaN,3\n4,5\n", "--target y", ["bad.csv:3: the column 'a' has no value",
                                                      "--missing drop"]),
    "infinity": (b"a,y\n1,2\ninf,3\n4,5\n", "--target y", ["bad.csv:3: column 'a' is infinite"]),
    "category as target": (b"a,y\n1,u\n2,v\n", "--target y", ["the target 'y' is a category"]),
    "all rows missing": (b"a,y\n,2\n,3\n", "--target y --missing drop", ["bad.csv: no row is left"]),
    "only the target": (b"y\n1\n2\n", "--target y", ["no column left to use as a feature"]),
    "negative weight": (b"a,w,y\n1,1,2\n2,-1,3\n", "--target y --weights w",
                        ["bad.csv:3: the weight 'w' is negative"]),
    "text as weight": (b"a,w,y\n1,u,2\n2,v,3\n", "--target y --weights w", ["'w' are not numbers"]),
    "UTF-16 without a mark": ("a,y\n1,2\n".encode("utf-16le"), "--target y", ["NUL", "--encoding utf-16le"]),
    "Parquet": (b"PAR1" + bytes(100), "--target y", ["a Parquet file, which is not supported"]),
    "gzip cut off": (zlib.compress(b"a,y\n1,2\n", wbits=31)[:-5], "--target y", ["gzip data are cut off"]),
    "gzip damaged": (zlib.compress(os.urandom(99), wbits=31)[:30] + bytes(90), "--target y", ["gzip"]),
    "not NPY": (b"\x93NUMPY\1\0\xff\xff{}", "--target y", ["bad.csv"]),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data(refused, tmp_path, name):
    contents, options, says = BAD_DATA[name]
    (tmp_path / "bad.csv").write_bytes(contents)
    refused(3, "fit", "linear", "bad.csv", *options.split(), "-o", "m.cred", says=says)


@pytest.mark.parametrize("name", ["empty", "header only", "ragged row", "unclosed quote", "NUL byte",
                                  "duplicate names", "too large", "gzip cut off"])
@pytest.mark.parametrize("verb", ["describe", "check", "convert"])
def test_bad_data_of_every_reader(refused, tmp_path, verb, name):
    contents, _, says = BAD_DATA[name]
    (tmp_path / "bad.csv").write_bytes(contents)
    refused(3, verb, "bad.csv", *(["out.csv"] if verb == "convert" else []), says=says)
    refused(3, verb, "-", *(["out.csv"] if verb == "convert" else []), input=contents,
            says=[phrase.replace("bad.csv", "stdin") for phrase in says])


def test_fault_is_shown(refused, tmp_path):
    (tmp_path / "bad.csv").write_text("a,y\n10,20\nx1,4\n")
    said = refused(3, "describe", "bad.csv", "--real", "a").stderr.splitlines()
    assert said[1].endswith("3 | x1,4") and said[2].endswith("| ^~")
    assert said[1].index("x1") == said[2].index("^")


def test_constant_target(credence, refused, tmp_path):
    (tmp_path / "c.csv").write_text("a,y\n1,2\n2,2\n3,2\n4,2\n")
    linear = credence("fit", "linear", "c.csv", "--target", "y", "--json")
    assert linear.code == 0 and '"r2": null' in linear.stdout
    bayes = ["fit", "bayes-linear", "c.csv", "--target", "y"]
    said = refused(4, *bayes, "-o", "m.cred", says="the target is constant").stderr
    options = said.split("hint: give the noise: ")[1].split()
    assert options[0] == "--optimize"
    assert credence(*bayes, *options).code == 0


def test_hint_for_missing_values_works(credence, refused, tmp_path):
    (tmp_path / "d.csv").write_text("a,b,y\n1,2,2\n3,,4\n4,5,5\n7,1,9\n8,8,9\n")
    refused(3, "fit", "linear", "d.csv", "--target", "y", says=["--missing drop", "--missing impute"])
    assert credence("fit", "linear", "d.csv", "--target", "y", "--missing", "drop").code == 0
    assert credence("fit", "linear", "d.csv", "--target", "y", "--missing", "impute").code == 0


# --- data that do not fit the model ----------------------------------------------------------------

TRAIN = "c,x,y\nred,1,1\ngreen,2,2\nred,4,3\ngreen,3,5\nblue,5,4\nblue,1,6\n"

MISFITS = {
    "unseen level": ("c,x,y\nred,1,1\ngreem,2,3\n", ["new.csv:3: column 'c' has the level 'greem'",
                                                     "levels: blue, green, red", "did you mean 'green'?"]),
    "numbers for levels": ("c,x,y\n1,1,1\n2,2,3\n", ["column 'c' has the level '1'"]),
    "column missing": ("c,xx,y\nred,1,2\n", ["column 'x' not found in new.csv", "columns: c, xx, y"]),
    "text for numbers": ("c,x,y\nred,1,1\nred,many,1\n", ["new.csv:", "column 'x' contains text"]),
    "value missing": ("c,x,y\nred,1,1\nred,,2\n", ["new.csv:3: the column 'x' has no value"]),
    "infinite": ("c,x,y\nred,inf,1\n", ["new.csv:2: column 'x' is infinite"]),
}


@pytest.mark.parametrize("verb", ["predict", "evaluate", "update", "plot"])
@pytest.mark.parametrize("name", MISFITS)
def test_misfit(credence, refused, tmp_path, verb, name):
    (tmp_path / "train.csv").write_text(TRAIN)
    (tmp_path / "new.csv").write_text(MISFITS[name][0])
    assert credence("fit", "ridge", "train.csv", "--target", "y", "-o", "m.cred").code == 0
    refused(3, verb, "m.cred", "new.csv", "-o", "out.svg", says=MISFITS[name][1])


def test_columns_in_any_order_and_extra_ones(credence, tmp_path):
    (tmp_path / "train.csv").write_text(TRAIN)
    (tmp_path / "a.csv").write_text("c,x\nred,1\nblue,2\n")
    (tmp_path / "b.csv").write_text("q,x,c\nzz,1,red\nzz,2,blue\n")
    assert credence("fit", "ridge", "train.csv", "--target", "y", "-o", "m.cred").code == 0
    assert credence("predict", "m.cred", "a.csv").stdout == credence("predict", "m.cred", "b.csv").stdout


def test_levels_that_look_like_numbers(credence, tmp_path):
    (tmp_path / "train.csv").write_text("zip,y\n010,1\n020,2\n010,3\n020,5\n")
    (tmp_path / "new.csv").write_text("zip\n010\n020\n")
    assert credence("fit", "linear", "train.csv", "--target", "y", "--category", "zip", "-o",
                    "m.cred").code == 0
    rows = credence("predict", "m.cred", "new.csv").stdout.splitlines()
    assert [float(r.split(",")[0]) for r in rows[1:]] == [pytest.approx(2), pytest.approx(3.5)]


def test_names_with_commas(credence, tmp_path):
    data, saved = tmp_path / "d.csv", tmp_path / "m.cred"
    data.write_text('"k,1",x,y\na,1,2\nb,2,4\na,3,5\nb,4,9\na,5,9\n')
    assert credence("fit", "linear", data, "--target", "y", "-o", saved).code == 0
    done = credence("predict", saved, data)
    assert done.code == 0 and len(done.stdout.splitlines()) == 6, done.stderr
    done = credence("fit", "linear", data, "--target", "y", "--features", '!"k,1"', "--json")
    assert done.code == 0 and '"k,1=b"' not in done.stdout, done.stderr
    done = credence("fit", "linear", data, "--target", "y", "--features", '"k,1')
    assert done.code == 2 and "not closed" in done.stderr


def test_target_is_needed_only_where_it_is_used(credence, refused, examples, model, tmp_path):
    lines = (examples / "diabetes.csv").read_text().splitlines()
    (tmp_path / "x.csv").write_text("".join(line.rpartition(",")[0] + "\n" for line in lines))
    assert credence("predict", "model.cred", "x.csv").code == 0
    for verb in ("evaluate", "update", "plot"):
        refused(3, verb, "model.cred", "x.csv", "-o", "out.svg",
                says="column 'progression' not found in x.csv")


# --- model files -----------------------------------------------------------------------------------

def seal(body, version=1):
    """The archive with the frame that a model file ends with: size and checksum of what is there."""
    frame = b"credence %d size=%020d crc32=%08x"
    size = len(body) + len(frame % (version, 0, 0))
    head = body + frame[:-len(b"%08x")] % (version, size)
    return head + b"%08x" % zlib.crc32(head)


def archive(tmp_path, entries, version=1, compressed=False):
    """A model file with these entries, sealed."""
    path = tmp_path / "made.zip"
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", kind) as z:
        warnings.simplefilter("ignore")  # of two entries with one name
        for name, contents in entries:
            z.writestr(name, contents)
    body = path.read_bytes()
    path.unlink()
    comment = len(seal(body)) - len(body)
    return seal(body[:-2] + struct.pack("<H", comment), version)


def entries_of(path):
    with zipfile.ZipFile(path) as z:
        return [(name, z.read(name)) for name in z.namelist()]


def bad_models(model, tmp_path):
    whole = model.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 4
    entries = entries_of(model)
    json_text = entries[0][1]
    yield "empty", b"", ["m.cred is not a model file: it is empty"]
    yield "text", b"a,y\n1,2\n", ["m.cred is not a model file", "credence fit MODEL DATA"]
    yield "random", os.urandom(2000), ["m.cred is not a model file"]
    for size in (1, 20, 60, len(whole) // 2, len(whole) - 60, len(whole) - 1):
        yield f"cut to {size}", whole[:size], ["m.cred is"]
    yield "one bit", bytes(flipped), ["m.cred is damaged", "fit it again"]
    yield "more behind it", whole + b"\n", ["m.cred is damaged"]
    yield "twice", whole + whole, ["m.cred"]
    yield "newer", archive(tmp_path, entries, version=2), ["made by a newer credence (format 2;"]
    yield "another archive", archive(tmp_path, [("a.txt", b"a")]), ["m.cred is not a model file"]
    yield "zip bomb", archive(tmp_path, [("model.json", bytes(50_000_000)), *entries[1:]],
                              compressed=True), ["entry 'model.json' is compressed"]
    yield "entry twice", archive(tmp_path, [*entries, entries[-1]]), ["m.cred"]
    yield "entry too many", archive(tmp_path, [*entries, ("evil.py", b"import os")]), ["evil.py"]
    yield "entry outside", archive(tmp_path, [*entries, ("../../x.npy", entries[-1][1])]), ["m.cred"]
    yield "array missing", archive(tmp_path, entries[:-1]), ["m.cred"]
    yield "no JSON", archive(tmp_path, [("model.json", b"{"), *entries[1:]]), ["model.json:1:"]
    yield "JSON list", archive(tmp_path, [("model.json", b"[]"), *entries[1:]]), ["not an object"]
    yield "deep JSON", archive(tmp_path, [("model.json", b"[" * 100_000), *entries[1:]]), ["m.cred"]
    yield "another model", archive(
        tmp_path, [("model.json", json_text.replace(b"bayes-linear", b"oracle-delphi")), *entries[1:]]), \
        ["the model 'oracle-delphi' is not known to this credence"]
    yield "bad setting", archive(
        tmp_path, [("model.json", json_text.replace(b'"normal"', b'"normol"')), *entries[1:]]), ["normol"]
    yield "array of texts", archive(
        tmp_path, [entries[0], *((n, c.replace(b"<f8", b"<U2")) for n, c in entries[1:])]), ["m.cred"]


def test_seal_is_the_frame_of_model_files(credence, model, tmp_path):
    """The forger of the next tests makes a file that is accepted when its contents are."""
    whole = model.read_bytes()
    assert seal(whole[:whole.rindex(b"credence ")]) == whole
    (tmp_path / "m.cred").write_bytes(archive(tmp_path, entries_of(model)))
    assert credence("check", "m.cred").code == 0


def test_bad_models(refused, model, examples, tmp_path):
    for name, contents, says in bad_models(model, tmp_path):
        (tmp_path / "m.cred").write_bytes(contents)
        for command in (["check", "m.cred"], ["describe", "m.cred"],
                        ["predict", "m.cred", "examples/diabetes.csv", "-o", "p.csv"],
                        ["update", "m.cred", "examples/diabetes.csv", "-o", "m.cred"]):
            try:
                refused(3, *command, says=says)
            except AssertionError as e:
                raise AssertionError(f"{name}: {command}") from e


def test_model_and_data_mixed_up(credence, refused, model, examples):
    data = "examples/diabetes.csv"
    refused(2, "predict", data, "model.cred", says=["is not a model", f"credence predict model.cred {data}"])
    refused(3, "predict", data, data, says="is not a model file")
    said = refused(3, "predict", "model.cred", "model.cred", says="model.cred is a model, not data").stderr
    assert "to look at it: credence describe model.cred" in said
    assert credence("describe", "model.cred").code == 0
    refused(3, "fit", "linear", "model.cred", "--target", "y", says="is a model, not data")
    refused(3, "convert", "model.cred", "out.csv", says="is a model, not data")


# --- files that cannot be read or written ----------------------------------------------------------

UNREADABLE = ["nope.csv", "examples", "examples/diabetes.csv/x.csv", "loop.csv", "", "no/dir/x.csv"]


@pytest.mark.parametrize("path", UNREADABLE)
def test_unreadable(refused, examples, model, tmp_path, path):
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    where = path or "cannot"
    for command in (["fit", "linear", path, "--target", "y", "-o", "m.cred"], ["describe", path],
                    ["check", path], ["predict", "model.cred", path, "-o", "p.csv"],
                    ["predict", path, "examples/diabetes.csv"], ["convert", path, "out.csv"]):
        refused(5, *command, says=["cannot ", where])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_without_permission(refused, diabetes, model):
    diabetes.chmod(0)
    refused(5, "describe", diabetes, says="Permission denied")
    model.chmod(0)
    refused(5, "describe", model, says="Permission denied")


WRITERS = [["fit", "linear", "examples/diabetes.csv", "--target", "progression"],
           ["update", "model.cred", "examples/diabetes.csv"],
           ["predict", "model.cred", "examples/diabetes.csv"],
           ["evaluate", "model.cred", "examples/diabetes.csv"],
           ["cv", "linear", "examples/diabetes.csv", "--target", "progression", "--folds", "2"],
           ["describe", "examples/diabetes.csv"], ["describe", "model.cred"], ["models"], ["version"],
           ["check", "model.cred"], ["help"], ["convert", "examples/diabetes.csv"]]


@pytest.mark.parametrize("command", WRITERS, ids=" ".join)
def test_unwritable(refused, examples, model, command):
    refused(5, *command, "-o", "no/such/dir.csv", says="the directory 'no/such' does not exist")
    refused(5, *command, "-o", "examples/diabetes.csv/x.csv", says="is not a directory")
    if command[0] != "convert":  # which asks for a name that tells the format
        refused(5, *command, "-o", "examples", says="examples")


@pytest.mark.parametrize("command", [c for c in WRITERS if c[0] != "convert"], ids=" ".join)
def test_full_disk(credence, examples, model, command):
    result = credence(*command, "-o", "/dev/full")
    assert result.code == 5
    assert result.stderr == "credence: error: cannot write /dev/full: No space left on device\n"


def test_old_output_survives_a_failure(credence, examples, model, tmp_path):
    (tmp_path / "p.csv").write_text("old")
    (tmp_path / "bad.csv").write_text("a\n1\n")
    assert credence("predict", "model.cred", "bad.csv", "-o", "p.csv").code == 3
    assert (tmp_path / "p.csv").read_text() == "old"
    assert credence("predict", "model.cred", "examples/diabetes.csv", "-o", "p.csv").code == 0
    assert (tmp_path / "p.csv").read_text().startswith("mean,")


# --- rows without a target -----------------------------------------------------------------------

AIR = "y,a,b\n1,2,1\n,3,4\n2,,5\n3,5,\n4,4,7\n,,\n6,7,2\n5,6,3\n"


def test_rows_without_a_target_are_dropped_where_gaps_are_filled(credence, refused, tmp_path):
    """As if these rows had been removed and the gaps of the others filled by hand, with the means of the columns."""
    (tmp_path / "air.csv").write_text(AIR)
    refused(3, "fit", "linear", "air.csv", "--target", "y", "--features", "a,b", says="has no value")
    fitted = credence("fit", "linear", "air.csv", "--target", "y", "--missing", "impute", "-o", "air.cred")
    assert fitted.code == 0 and "2 of 8 rows of air.csv were left out" in fitted.stderr
    assert "2 missing values of air.csv were filled in" in fitted.stderr
    rows = [line.split(",") for line in AIR.splitlines()[1:]]
    means = [sum(float(r[j]) for r in rows if r[j]) / sum(1 for r in rows if r[j]) for j in (1, 2)]
    lines = [f"{y},{a or means[0]},{b or means[1]}" for y, a, b in rows if y]
    (tmp_path / "hand.csv").write_text("y,a,b\n" + "\n".join(lines) + "\n")
    hand = credence("fit", "linear", "hand.csv", "--target", "y")
    for ours, theirs in zip(fitted.stdout.splitlines()[1:], hand.stdout.splitlines()[1:]):
        assert [float(x) for x in ours.split(",")[1:5]] == pytest.approx([float(x) for x in theirs.split(",")[1:5]])
    assert credence("predict", "air.cred", "air.csv").stdout.count("\n") == 9  # every row has a prediction
    assert "2 of 8 rows have missing values and are not scored" in credence("evaluate", "air.cred", "air.csv").stderr
    assert credence("cv", "linear", "air.csv", "--target", "y", "--missing", "impute", "--folds", "3").code == 0


def test_rows_without_a_weight_are_still_refused(refused, tmp_path):
    (tmp_path / "w.csv").write_text("y,a,w\n1,2,1\n2,3,\n4,,1\n5,7,2\n")
    refused(3, "fit", "linear", "w.csv", "--target", "y", "--weights", "w", "--missing", "impute",
            says="the weight 'w' has no value")

"""What _declarations.py says is what credence.h says: functions, structs, constants."""
import ctypes

import header
import pytest

from credence import _declarations as c
from credence import _library

TEXT = header.read()
PROTOTYPES, STRUCTS, CONSTANTS = header.prototypes(TEXT), header.structs(TEXT), header.constants(TEXT)

SCALARS = {"size_t": ctypes.c_size_t, "double": ctypes.c_double, "bool": ctypes.c_bool,
           "unsigned": ctypes.c_uint, "int": ctypes.c_int, "uint64_t": ctypes.c_uint64,
           "uint32_t": ctypes.c_uint32, "char": ctypes.c_char}
ENUMS = {"cr_status", "cr_type", "cr_stop", "cr_answer", "cr_evidence_kind", "cr_option_kind", "cr_log_level",
         "cr_loss_kind", "cr_plot_kind", "cr_field_type", "cr_network_format", "cr_shape"}
OURS = {"cr_cmat": c.Cmat, "cr_column": c.Column, "cr_option": c.Option, "cr_setting": c.Setting,
        "cr_prediction": c.Prediction, "cr_forecast": c.Forecast, "cr_forecast_columns": c.ForecastColumns,
        "cr_levels": c.Levels, "cr_report": c.Report, "cr_metric": c.Metric,
        "cr_calibration_bin": c.CalibrationBin, "cr_assessment": c.Assessment, "cr_judging": c.Judging, "cr_cv": c.Cv,
        "cr_plot_options": c.PlotOptions, "cr_blas_info": c.BlasInfo, "cr_csr": c.Csr, "cr_loss": c.Loss, "cr_decisions": c.Decisions,
        "cr_inducing": c.Inducing, "cr_field": c.Field, "cr_posteriors": c.Posteriors, "cr_dist_param": c.DistParam,
        "cr_rng": c.Rng, "cr_model_spec": c.ModelSpec}


def is_pointer_to(ours, theirs):
    """Whether a ctypes type may stand for the C pointer `theirs`."""
    plain = theirs.replace("const ", "").replace(" const", "").replace("*const", "*")
    if ours in (ctypes.c_void_p, ctypes.c_char_p):
        return ours is ctypes.c_void_p or plain in ("char*", "void*")
    if plain == "cr_log_fn*":
        return ours is c.LogFn
    inner, target = getattr(ours, "_type_", None), plain[:-1]
    if target.removeprefix("struct ") in OURS:
        return inner is OURS[target.removeprefix("struct ")]
    if target.endswith("*"):
        return inner is not None and is_pointer_to(inner, target)
    return inner is SCALARS.get(target, "nothing")


def agrees(ours, theirs):
    theirs = theirs.replace("const const", "const")
    if theirs == "void":
        return ours is None
    if "*" in theirs:
        return ours is not None and issubclass(ours, (ctypes.c_void_p, ctypes.c_char_p, ctypes._Pointer,
                                                      ctypes._CFuncPtr)) and is_pointer_to(ours, theirs)
    plain = theirs.replace("const ", "")
    if plain in ENUMS:
        return ours is ctypes.c_int
    return ours is OURS.get(plain, SCALARS.get(plain, "nothing"))


def test_the_header_is_read():
    assert len(PROTOTYPES) > 100 and len(STRUCTS) > 15
    assert PROTOTYPES["cr_fit"] == ("cr_status", ["cr_ctx*", "const char*", "const cr_table*",
                                                  "const cr_setting*", "size_t", "cr_model**"])
    assert PROTOTYPES["cr_class_count"] == ("size_t", [])
    assert TEXT.count("CR_API ") - TEXT.count("extern CR_API") - 1 == len(PROTOTYPES)   # less its definition


@pytest.mark.parametrize("name", c.PROTOTYPES)
def test_prototype(name):
    result, arguments = c.PROTOTYPES[name]
    their_result, their_arguments = PROTOTYPES[name]
    assert agrees(result, their_result), f"{name} gives {their_result}, not {result}"
    assert len(arguments) == len(their_arguments), f"{name} takes {their_arguments}"
    for ours, theirs in zip(arguments, their_arguments):
        assert agrees(ours, theirs), f"{name} takes {theirs}, not {ours}"


@pytest.mark.parametrize("name", OURS)
def test_struct(name):
    ours, theirs = OURS[name]._fields_, STRUCTS[name]
    assert [field for field, _ in ours] == [field for field, _, _ in theirs]
    for (field, kind), (_, their_kind, size) in zip(ours, theirs):
        if size:
            n = int(size) if size.isdigit() else CONSTANTS[size]
            assert kind._length_ == n and agrees(kind._type_, their_kind), f"{name}.{field}"
        else:
            assert agrees(kind, their_kind), f"{name}.{field} is {their_kind}, not {kind}"


def test_constants():
    expected = {"OK": "CR_OK", **{n: f"CR_{n}" for n in (
        "EARG EDATA ENUMERIC EIO ENOMEM EINTERRUPTED EUNSUPPORTED LOG_DEBUG LOG_INFO LOG_WARNING REAL "
        "INTEGER BOOLEAN CATEGORY OPTION_END ANSWER_NUMBER ANSWER_CLASS ANSWER_DENSITY ANSWER_VECTOR "
        "STOP_CLOSED_FORM STOP_TOLERANCE STOP_LIMIT LOSS_ZERO_ONE LOSS_SQUARED LOSS_ABSOLUTE LOSS_QUANTILE "
        "LOSS_MATRIX MOST_METRICS POSITIVE_SIZE CALIBRATION_BINS").split()},
        **{f"OPTION_{n.upper()}": f"CR_OPTION_{n}" for n in "flag count real choice text list".split()}}
    for k, task in enumerate(("REGRESSION", "CLASSIFICATION", "DENSITY", "CLUSTER", "TRANSFORM")):
        assert getattr(c, f"TASK_{task}") == 1 << k and f"CR_TASK_{task} = 1 << {k}" in TEXT
    for ours, theirs in expected.items():
        assert getattr(c, ours) == CONSTANTS[theirs], ours
    assert _library.ABI_VERSION == CONSTANTS["CR_ABI_VERSION"]
    assert "#define CR_MISSING_CODE UINT32_MAX" in TEXT and c.MISSING_CODE == 2**32 - 1


@pytest.mark.parametrize("broken", ["size_t", "const char*", "cr_ctx**", "cr_status"])
def test_disagreement_is_seen(broken):
    assert not agrees(ctypes.c_double, broken)
    assert not agrees(None, broken)
    assert not agrees(ctypes.POINTER(c.Report), broken)


def test_formats_of_networks():
    from credence._network import FORMATS
    assert [CONSTANTS["CR_FORMAT_" + name.upper()] for name in FORMATS] == list(range(len(FORMATS)))


def test_kinds_of_figures():
    assert [CONSTANTS["CR_PLOT_" + kind.upper().replace("-", "_")] for kind in c.PLOT_KINDS] == \
        list(range(len(c.PLOT_KINDS)))

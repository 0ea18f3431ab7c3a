"""The part of credence.h that this package uses, in the words of ctypes.

A test reads the header and fails when the two disagree.  Pointers to opaque things and to arrays are
c_void_p; numpy gives the addresses."""
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_size_t,
                    c_uint, c_uint32, c_uint64, c_void_p)

from ._library import lib

# --- enums ------------------------------------------------------------------------------------------

OK, EARG, EDATA, ENUMERIC, EIO, ENOMEM, EINTERRUPTED, EUNSUPPORTED = range(8)      # cr_status
LOG_DEBUG, LOG_INFO, LOG_WARNING = range(3)                                        # cr_log_level
REAL, INTEGER, BOOLEAN, CATEGORY, DATE, DATETIME = range(6)                                        # cr_type
OPTION_END, OPTION_FLAG, OPTION_COUNT, OPTION_REAL, OPTION_CHOICE, OPTION_TEXT, OPTION_LIST = range(7)
ANSWER_NUMBER, ANSWER_CLASS, ANSWER_DENSITY, ANSWER_VECTOR, ANSWER_DISTANCE = range(5)   # cr_answer
STOP_CLOSED_FORM, STOP_TOLERANCE, STOP_LIMIT, STOP_NO_PROGRESS, STOP_TIME = range(5)  # cr_stop
TASK_REGRESSION, TASK_CLASSIFICATION, TASK_DENSITY, TASK_CLUSTER, TASK_TRANSFORM = 1, 2, 4, 8, 16  # cr_task
PLOT_KINDS = ("residuals", "calibration", "roc", "pr", "learning-curve", "components", "map", "evidence",
              "path", "importance", "dependence", "fit", "criterion", "responsibilities", "scree", "biplot",
              "loadings", "states", "forecast", "transitions", "seasons")                                                                                # cr_plot_kind
SHAPE_SCALAR, SHAPE_VECTOR, SHAPE_MATRIX = range(3)                                # cr_shape
LOSS_ZERO_ONE, LOSS_SQUARED, LOSS_ABSOLUTE, LOSS_QUANTILE, LOSS_MATRIX = range(5)  # cr_loss_kind

MISSING_CODE = 2**32 - 1
MOST_METRICS = 12
POSITIVE_SIZE = 64
CALIBRATION_BINS = 15

# --- structs ----------------------------------------------------------------------------------------


class Cmat(Structure):
    _fields_ = [("a", c_void_p), ("rows", c_size_t), ("cols", c_size_t), ("stride", c_size_t)]


class Csr(Structure):
    _fields_ = [("rows", c_size_t), ("columns", c_size_t), ("row_start", c_void_p), ("column", c_void_p),
                ("value", c_void_p)]


class Column(Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("values", c_void_p), ("stride", c_size_t),
                ("codes", c_void_p), ("levels", POINTER(c_char_p)), ("n_levels", c_size_t),
                ("missing", c_size_t), ("infinite", c_bool), ("written", c_char_p)]


class Option(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("fallback", c_char_p), ("range", c_char_p),
                ("help", c_char_p), ("example", c_char_p), ("offset", c_size_t)]


class Field(Structure):
    pass


Field._fields_ = [("name", c_char_p), ("type", c_int), ("marks", c_uint), ("unit", c_char_p), ("help", c_char_p),
                  ("inner", POINTER(Field))]


class Setting(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class Prediction(Structure):
    _fields_ = [("kind", c_int), ("n", c_size_t), ("mean", c_void_p), ("scale", c_void_p),
                ("dof", c_void_p), ("leverage", c_void_p), ("n_classes", c_size_t),
                ("classes", POINTER(c_char_p)), ("prob", c_void_p), ("vector", c_void_p),
                ("observations", c_void_p), ("log_density", c_void_p), ("family", c_void_p),
                ("n_params", c_size_t), ("params", c_void_p), ("conformal", c_void_p), ("n_folds", c_size_t),
                ("fold_mean", c_void_p), ("fold_scale", c_void_p), ("n_decisions", c_size_t),
                ("decisions", POINTER(c_char_p)), ("decision", c_void_p), ("ranks", c_bool),
                ("of_pairs", c_bool), ("undetermined", c_void_p)]


class Levels(Structure):
    _fields_ = [("n", c_size_t), ("column", POINTER(c_size_t)), ("first", POINTER(c_size_t)),
                ("level", POINTER(c_char_p)), ("prob", POINTER(c_double))]


class Forecast(Structure):
    _fields_ = [("n", c_size_t), ("ahead", c_size_t), ("names", POINTER(c_char_p)), ("p", Prediction),
                ("time_name", c_char_p), ("time_type", c_int), ("time", POINTER(c_double)), ("beside", c_size_t),
                ("beside_names", POINTER(c_char_p)), ("beside_mean", POINTER(c_double)),
                ("beside_sd", POINTER(c_double))]


class ForecastColumns(Structure):
    _fields_ = [("n", c_size_t), ("columns", c_size_t), ("name", POINTER(c_char_p)), ("mean", POINTER(c_double)),
                ("sd", POINTER(c_double)), ("lower", POINTER(c_double)), ("upper", POINTER(c_double))]


class Report(Structure):
    _fields_ = [("stop", c_int), ("iterations", c_size_t), ("rows", c_size_t),
                ("log_evidence", c_double), ("evidence", c_int), ("log_likelihood", c_double), ("seconds", c_double)]


class Metric(Structure):
    _fields_ = [("name", c_char_p), ("value", c_double), ("se", c_double)]


class Loss(Structure):
    _fields_ = [("kind", c_int), ("quantile", c_double), ("n_actions", c_size_t), ("n_outcomes", c_size_t),
                ("actions", POINTER(c_char_p)), ("outcomes", POINTER(c_char_p)), ("loss", c_void_p)]


class Decisions(Structure):
    _fields_ = [("n", c_size_t), ("action", c_void_p), ("expected_loss", c_void_p), ("n_actions", c_size_t),
                ("actions", POINTER(c_char_p))]


class Inducing(Structure):
    _fields_ = [("n", c_size_t), ("terms", c_size_t), ("Z", c_void_p), ("text", POINTER(c_char_p)),
                ("mean", c_void_p), ("covariance", c_void_p)]


class CalibrationBin(Structure):
    _fields_ = [("count", c_size_t), ("weight", c_double), ("confidence", c_double),
                ("accuracy", c_double)]


class Assessment(Structure):
    _fields_ = [("rows", c_size_t), ("weight", c_double), ("unconverged", c_size_t), ("n", c_size_t),
                ("metrics", Metric * MOST_METRICS),
                ("target_mean", c_double), ("target_variance", c_double),
                ("quantile", c_double), ("has_bins", c_bool), ("bins", CalibrationBin * CALIBRATION_BINS),
                ("positive", c_char * POSITIVE_SIZE), ("positive_share", c_double)]


class Judging(Structure):
    _fields_ = [("level", c_double), ("opt_loss", POINTER(Loss)), ("opt_confusion", POINTER(c_double)),
                ("opt_positive", c_char_p), ("one_of_many", c_bool)]


class Cv(Structure):
    _fields_ = [("folds", c_size_t), ("repeats", c_size_t), ("seed", c_uint64), ("fold", POINTER(Assessment)),
                ("mean", Assessment), ("se", c_double * MOST_METRICS)]


class ModelSpec(Structure):
    _fields_ = [("model", c_char_p), ("settings", POINTER(Setting)), ("n_settings", c_size_t)]


class PlotOptions(Structure):
    _fields_ = [("level", c_double), ("draws", c_size_t), ("range", c_void_p), ("parameters", POINTER(c_char_p)),
                ("n_parameters", c_size_t), ("over", POINTER(c_char_p)), ("n_over", c_size_t),
                ("repeats", c_size_t), ("ahead", c_size_t)]


class Posteriors(Structure):
    _fields_ = [("rows", c_size_t), ("n", c_size_t), ("width", c_size_t), ("variable", POINTER(c_size_t)),
                ("log_evidence", c_void_p), ("value", c_void_p), ("se", c_void_p), ("possible", POINTER(c_bool)),
                ("method", c_char_p), ("exact", c_bool)]


class DistParam(Structure):
    _fields_ = [("name", c_char_p), ("domain", c_char_p), ("help", c_char_p), ("example", c_char_p),
                ("shape", c_int), ("given", c_bool), ("standard", c_bool)]


class Rng(Structure):
    _fields_ = [("key", c_uint32 * 2), ("counter", c_uint32 * 4), ("block", c_uint32 * 4), ("used", c_uint),
                ("has_spare", c_bool), ("spare", c_double)]


class BlasInfo(Structure):
    _fields_ = [("library", c_char_p), ("kernel", c_char_p), ("slow", c_bool), ("better", c_char_p)]


LogFn = CFUNCTYPE(None, c_void_p, c_int, c_char_p)

# --- functions --------------------------------------------------------------------------------------

_p, _s, _n, _d = c_void_p, c_char_p, c_size_t, c_double

PROTOTYPES = {  # name: (result, arguments)
    "cr_abi_version": (c_uint, []),
    "cr_version": (_s, []),
    "cr_blas_query": (BlasInfo, []),

    "cr_ctx_new": (c_int, [_p, POINTER(_p)]),
    "cr_ctx_free": (None, [_p]),
    "cr_ctx_set_threads": (None, [_p, _n]),
    "cr_ctx_threads": (_n, [_p]),
    "cr_ctx_memory": (_n, [_p]),
    "cr_ctx_set_log": (None, [_p, LogFn, _p]),
    "cr_interrupt": (None, [_p]),
    "cr_interrupt_clear": (None, [_p]),
    "cr_error": (_s, [_p]),
    "cr_error_notes": (_s, [_p]),
    "cr_error_hint": (_s, [_p]),
    "cr_free": (None, [_p, _p, _n, _n]),

    "cr_options_init": (c_int, [_p, _p, _p]),
    "cr_options_set": (c_int, [_p, _p, _p, _s, _s]),
    "cr_options_free": (None, [_p, _p, _p]),

    "cr_table_new": (c_int, [_p, _s, _n, POINTER(_p)]),
    "cr_table_free": (None, [_p, _p]),
    "cr_table_borrow_numbers": (c_int, [_p, _p, _s, c_int, _p, _n]),
    "cr_table_borrow_matrix": (c_int, [_p, _p, c_int, Cmat, POINTER(_s)]),
    "cr_table_borrow_csr": (c_int, [_p, _p, c_int, Csr]),
    "cr_table_add_category": (c_int, [_p, _p, _s, _p, POINTER(_s), _n]),
    "cr_table_rows": (_n, [_p]),
    "cr_table_columns": (_n, [_p]),
    "cr_table_source": (_s, [_p]),
    "cr_table_column": (POINTER(Column), [_p, _n]),
    "cr_table_find": (POINTER(Column), [_p, _s]),
    "cr_table_csr": (POINTER(Csr), [_p]),
    "cr_table_csr_first": (_n, [_p]),
    "cr_table_csr_type": (c_int, [_p]),
    "cr_type_name": (_s, [c_int]),
    "cr_table_read": (c_int, [_p, _s, _p, POINTER(_p)]),
    "cr_model_read_options": (c_int, [_p, _p, _p]),
    "cr_table_write_csv": (c_int, [_p, _p, _s]),
    "cr_table_write_npy": (c_int, [_p, _p, _s]),
    "cr_table_write_libsvm": (c_int, [_p, _p, _s, _s]),

    "cr_class_count": (_n, []),
    "cr_class_at": (_p, [_n]),
    "cr_class_name": (_s, [_p]),
    "cr_class_summary": (_s, [_p]),
    "cr_class_formulas": (_s, [_p]),
    "cr_class_reference": (_s, [_p]),
    "cr_class_tasks": (c_uint, [_p]),
    "cr_class_options": (_p, [_p]),
    "cr_class_option_serves": (c_bool, [_p, _s, c_uint]),
    "cr_class_offers": (c_bool, [_p, _s]),
    "cr_class_statistics": (POINTER(Field), [_p]),

    "cr_fit": (c_int, [_p, _s, _p, POINTER(Setting), _n, POINTER(_p)]),
    "cr_update": (c_int, [_p, _p, _p, POINTER(_p)]),
    "cr_model_free": (None, [_p, _p]),
    "cr_model_save": (c_int, [_p, _p, _s]),
    "cr_model_load": (c_int, [_p, _s, POINTER(_p)]),
    "cr_model_to_bytes": (c_int, [_p, _p, POINTER(_p), POINTER(_n)]),
    "cr_model_from_bytes": (c_int, [_p, _s, _s, _n, POINTER(_p)]),
    "cr_predict": (c_int, [_p, _p, _p, POINTER(Prediction)]),
    "cr_filter": (c_int, [_p, _p, _p, POINTER(Prediction)]),
    "cr_smooth": (c_int, [_p, _p, _p, POINTER(Prediction)]),
    "cr_decode": (c_int, [_p, _p, _p, _p, _p]),
    "cr_decode_paths": (c_int, [_p, _p, _p, _n, _p, _p]),
    "cr_path_entropy": (c_int, [_p, _p, _p, _p]),
    "cr_forecast_rows": (c_int, [_p, _p, _p, _n, POINTER(Forecast)]),
    "cr_forecast_free": (None, [_p, POINTER(Forecast)]),
    "cr_forecast_columns_of": (c_int, [_p, _p, POINTER(Forecast), c_double, POINTER(ForecastColumns)]),
    "cr_forecast_columns_free": (None, [_p, POINTER(ForecastColumns)]),
    "cr_predict_mean": (c_int, [_p, _p, _p, _p]),
    "cr_transform": (c_int, [_p, _p, _p, _p]),
    "cr_transform_labels": (POINTER(c_char_p), [_p, POINTER(c_size_t)]),
    "cr_prediction_free": (None, [_p, POINTER(Prediction)]),
    "cr_prediction_intervals": (c_int, [_p, POINTER(Prediction), _d, _p, _p, _p]),
    "cr_score": (c_int, [_p, _p, _p, _p]),
    "cr_next": (c_int, [_p, _p, POINTER(Prediction)]),
    "cr_next_levels": (c_int, [_p, _p, POINTER(Levels)]),
    "cr_levels_free": (None, [_p, POINTER(Levels)]),
    "cr_sample": (c_int, [_p, _p, _n, c_uint64, _p]),
    "cr_sample_targets": (c_int, [_p, _p, _p, _n, c_uint64, _p]),
    "cr_predict_function": (c_int, [_p, _p, _p, c_bool, _p, _p, _p]),
    "cr_sample_functions": (c_int, [_p, _p, _p, c_bool, _n, c_uint64, _p]),
    "cr_predict_log_joint": (c_int, [_p, _p, _p, _p]),
    "cr_predict_probability_intervals": (c_int, [_p, _p, _p, _d, _p, _p]),
    "cr_predict_mean_intervals": (c_int, [_p, _p, _p, _d, _p, _p]),
    "cr_model_slopes": (_n, [_p]),
    "cr_predict_slopes": (c_int, [_p, _p, _p, _p]),
    "cr_model_inducing": (c_int, [_p, _p, POINTER(Inducing)]),
    "cr_inducing_free": (None, [_p, POINTER(Inducing)]),
    "cr_model_reconstructs": (_n, [_p]),
    "cr_reconstruct": (c_int, [_p, _p, _p, _n, _p, _p]),
    "cr_loss_read": (c_int, [_p, _s, POINTER(Loss)]),
    "cr_loss_free": (None, [_p, POINTER(Loss)]),
    "cr_decide": (c_int, [_p, POINTER(Prediction), POINTER(Loss), POINTER(Decisions)]),
    "cr_decisions_free": (None, [_p, POINTER(Decisions)]),
    "cr_model_get_class": (_p, [_p]),
    "cr_model_get_task": (c_uint, [_p]),
    "cr_model_labels": (POINTER(_s), [_p, POINTER(_n)]),
    "cr_model_get_design": (_p, [_p]),
    "cr_model_get_report": (POINTER(Report), [_p]),
    "cr_stop_name": (_s, [c_int]),
    "cr_describe": (c_int, [_p, _p, POINTER(_p)]),
    "cr_design_terms": (_n, [_p]),
    "cr_design_term_name": (_s, [_p, _n]),
    "cr_design_columns": (_n, [_p]),
    "cr_design_column_name": (_s, [_p, _n]),
    "cr_design_column_type": (c_int, [_p, _n]),
    "cr_design_column_origin": (c_double, [_p, _n]),
    "cr_design_column_format": (_s, [_p, _n]),
    "cr_design_levels": (_n, [_p, _n]),
    "cr_design_level": (_s, [_p, _n, _n]),
    "cr_design_target": (_s, [_p]),
    "cr_design_weights": (_s, [_p]),
    "cr_design_classes": (_n, [_p]),
    "cr_design_class": (_s, [_p, _n]),

    "cr_model_load_network": (c_int, [_p, _s, c_int, POINTER(_p)]),
    "cr_model_write_network": (c_int, [_p, _p, _s, c_int]),
    "cr_model_variables": (_p, [_p, POINTER(c_bool)]),
    "cr_model_describe_network": (c_int, [_p, _p, POINTER(_p)]),
    "cr_model_query": (c_int, [_p, _p, _s, _s, _p, POINTER(_p)]),
    "cr_model_infer": (c_int, [_p, _p, _p, _s, _s, _p, POINTER(Posteriors)]),
    "cr_posteriors_free": (None, [_p, POINTER(Posteriors)]),
    "cr_plot_model_network": (c_int, [_p, _p, _s, _s, _s, _s]),
    "cr_variables_count": (_n, [_p]),
    "cr_variable_name": (_s, [_p, _n]),
    "cr_variable_states": (_n, [_p, _n]),
    "cr_state_name": (_s, [_p, _n, _n]),

    "cr_dist_count": (_n, []),
    "cr_dist_at": (_p, [_n]),
    "cr_dist_find": (_p, [_p, _s]),
    "cr_dist_name": (_s, [_p]),
    "cr_dist_is_vector": (c_bool, [_p]),
    "cr_dist_offers": (c_bool, [_p, _s]),
    "cr_dist_parameter": (POINTER(DistParam), [_p, _n]),
    "cr_dist_point_size": (_n, [_p, _n]),
    "cr_dist_parameters_for": (_n, [_p, _n]),
    "cr_dist_check": (c_int, [_p, _p, _p, _n]),
    "cr_dist_points": (c_int, [_p, _p, _p, _n, _s, _p, _n, _p]),
    "cr_dist_interval": (c_int, [_p, _p, _p, _n, _d, POINTER(_d), POINTER(_d)]),
    "cr_dist_hdi": (c_int, [_p, _p, _p, _n, _d, POINTER(_d), POINTER(_d)]),
    "cr_dist_kl": (c_int, [_p, _p, _p, _n, _p, _n, POINTER(_d)]),
    "cr_dist_vector_kl": (c_int, [_p, _p, _p, _p, _n, POINTER(_d)]),
    "cr_dist_vector_logpdf": (c_int, [_p, _p, _p, _n, _p, _n, _p]),
    "cr_dist_sample": (c_int, [_p, _p, _p, _n, POINTER(Rng), _n, _p]),
    "cr_dist_vector_sample": (c_int, [_p, _p, _p, _n, POINTER(Rng), _n, _p]),
    "cr_dist_fit": (c_int, [_p, _p, _p, _p, _n, _p, _n, POINTER(_d)]),
    "cr_dist_vector_fit": (c_int, [_p, _p, _p, _p, _n, _p, _n, POINTER(_d)]),
    **{f"cr_dist_{vector}{name}": (c_int, [_p, _p, _p, _n, _p]) for vector in ("", "vector_")
       for name in ("mean", "variance", "mode", "entropy")},
    "cr_rng_stream": (Rng, [c_uint64, c_uint64]),

    "cr_evaluate_with": (c_int, [_p, _p, _p, POINTER(Judging), POINTER(Assessment)]),
    "cr_cross_validate": (c_int, [_p, _s, _p, POINTER(Setting), _n, _p, POINTER(Cv)]),
    "cr_cv_free": (None, [_p, POINTER(Cv)]),
    "cr_cv_report": (c_int, [_p, POINTER(ModelSpec), _p, _p, POINTER(_p)]),
    "cr_compare_report": (c_int, [_p, POINTER(ModelSpec), POINTER(_s), _n, _p, _p, c_bool, POINTER(_p)]),
    "cr_tune_report": (c_int, [_p, POINTER(ModelSpec), _p, _p, _p, POINTER(_p)]),
    "cr_table_report": (c_int, [_p, _p, POINTER(_p)]),
    "cr_info_report": (c_int, [_p, _p, _p, _p, c_uint64, POINTER(_p)]),
    "cr_plot_with": (c_int, [_p, _p, _p, c_int, POINTER(PlotOptions), _s]),
}

for _name, (_result, _arguments) in PROTOTYPES.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes = _result, _arguments

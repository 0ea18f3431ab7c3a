/* svr.c -- support vector regression.
 *   f(x) = sum_i beta_i k(x_i, x) + b
 *   minimise  1/2 |w|^2 + C sum_i w_i max(0, |y_i - f(x_i)| - epsilon),   |w|^2 = beta^T K beta:
 * errors within the tube of half-width epsilon cost nothing, and rows inside it are not needed.  Of nu, epsilon is found
 * so that a share nu of the rows is outside.  C and epsilon are in units of the standard deviation of the target, unless
 * it is to be taken as it is.  The programme is solved to a violation of the optimality conditions of at most tol, and
 * says by its duality gap how far from the optimum it can be.  What is foretold is f(x) with the noise of rows that were
 * left out of the fit (svr_noise.c): one spread everywhere, also far from the rows, where it is too small.
 * Cost: between O(n^2 d) and O(n^2 s) for n rows and s support vectors, as often as there are folds besides; O(s d) for a
 * new row.  Vapnik (1995), The Nature of Statistical Learning Theory; Smola & Schoelkopf (2004), Statistics and
 * Computing 14. */
#include "svr.h"
#include "models/core/parameters.h"
#include "models/core/rows_check.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define SVR_OPTIONS(X)                                                                             \
    X(text,   kernel,   "",     "", "kernel expression (see credence models kernels); default: rbf with half the median distance between rows as length-scale; LIBSVM's gamma is rbf(gamma=0.1)", "'rbf(l=2)'") \
    X(choice, kind,     "epsilon", "epsilon|nu", "the half-width of the tube that costs nothing: as given, or such that the share nu of the rows is outside", "nu") \
    X(real,   C,        "1",    ">0", "price of an error beyond the tube", "10")                                                                    \
    X(real,   epsilon,  "0.1",  ">=0", "half-width of the tube within which errors cost nothing", "0.05")                                           \
    X(real,   nu,       "0.5",  "0<..1", "with --kind nu: at most this share of the rows is outside the tube, and at least this share are support vectors", "0.2") \
    X(choice, units,    "sd",   "sd|target", "what C and epsilon are measured in: standard deviations of the target, or the target as it is, as in LIBSVM", "target") \
    X(choice, noise,    "auto", "auto|laplace|gaussian|none", "distribution around the function, by the residuals of rows left out: the likelier of two, one of them, or none", "gaussian") \
    X(count,  noise_folds, "5",    ">=2", "in how many parts rows are left out for the noise", "10")                                                  \
    X(real,   tol,      "1e-3", ">0", "stop when the optimality conditions hold to this", "1e-6")                                                   \
    X(count,  max_iter, "100000000", ">=1", "give up after this many steps of two weights", "100000")
/* clang-format on */

CR_OPTIONS(svr_options, svr_table, SVR_OPTIONS);
static const cri_requirement svr_requirements[] = {
    { "nu", "kind", "nu", true },
    { "epsilon", "kind", "epsilon", true },
    { "noise_folds", "noise", "auto|laplace|gaussian", true },
    CRI_REQUIREMENT_LAST,
};

CRI_RECORD_TABLE(static, svr_record, cri_svr, CRI_SVR);

static void svr_release(cr_ctx *cx, void *state)
{
    cri_svm_function_release(cx, &((cri_svr *)state)->f);
}

/* --- fit ------------------------------------------------------------------------------------- */

/* The target in units of its standard deviation, about its mean; or as it is. */
static void set_units(cri_svr *m, cri_gp_data *data, bool as_it_is)
{
    double square = 0;
    m->unit = 1, m->shift = 0;
    if (as_it_is) return;
    m->shift = cri_gp_data_mean(data);
    for (size_t i = 0; i < data->n; i++) {
        double e = data->y[i] - m->shift;
        square += data->w[i] * e * e;
    }
    double sd = sqrt(square / data->count);
    if (sd > 1e-12 * fabs(m->shift)) m->unit = sd;
    for (size_t i = 0; i < data->n; i++) data->y[i] = (data->y[i] - m->shift) / m->unit;
}

/* In an order of their own: where the search ends within its tolerance then does not depend on that of the table. */
static cr_status sort_rows(cr_ctx *cx, cri_gp_data *data)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    size_t        *order = cr_scratch_index(&s, data->n), d = data->d, c = data->c;
    cri_gp_data    sorted = { 0 };
    cri_svr_sample sample = { .rows = cri_gp_inputs(data), .n = data->n, .y = data->y };
    CR_TRY(s.status);
    CR_TRY(cri_svr_order(cx, &sample, order));
    CR_TRY(cri_gp_data_copy(cx, data, &sorted));
    if (!sorted.w && !(sorted.w = cr_alloc(cx, data->n, sizeof *sorted.w))) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < data->n; i++) {
        size_t k = order[i];
        if (d) memcpy(sorted.X + i * d, data->X + k * d, d * sizeof *data->X);
        if (c) memcpy(sorted.codes + i * c, data->codes + k * c, c * sizeof *data->codes);
        sorted.y[i] = data->y[k], sorted.r[i] = data->r[k], sorted.w[i] = data->w[k];
        sorted.first[i] = data->first[k];
    }
    cri_gp_data_free(cx, data);
    *data = sorted;
    sorted = (cri_gp_data){ 0 };
done:
    cri_gp_data_free(cx, &sorted);
    cr_scratch_end(&s);
    return st;
}

static cr_status fit_data(cr_ctx *cx, const cri_gp_data *data, const svr_options *o, uint64_t seed,
                          cri_svr *m, cr_report *report)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    size_t         n = data->n;
    double        *bound = cr_scratch_f64(&s, n), *e = cr_scratch_f64(&s, n);
    cri_svr_fit    fit = { .beta = cr_scratch_f64(&s, n), .value = cr_scratch_f64(&s, n) };
    cri_svr_spread spread;
    cri_svr_sample sample = {
        .kernel = m->f.kernel, .rows = cri_gp_inputs(data), .n = n, .y = data->y, .weight = data->w
    };
    cri_svr_tube tube = { .kind = (cri_svr_kind)o->kind,
                          .C = o->C,
                          .epsilon = o->epsilon,
                          .nu = o->nu,
                          .how = { .tol = o->tol, .max_iter = o->max_iter, .shrink = true } };
    CR_TRY(s.status);
    tube.how.clock = cri_clock_start(cx, NAN);
    CR_TRY(cri_svr_train(cx, &sample, &tube, &fit));
    cri_svm_function_report(cx, "svr", &fit.from, report);
    m->f.b = fit.b;
    m->epsilon = fit.epsilon;
    for (size_t i = 0; i < n; i++) {
        bound[i] = o->C * data->w[i];
        e[i] = data->y[i] - fit.value[i] - fit.b;
    }
    CR_TRY(cri_svr_measure(cx, &sample, &tube, (cri_svr_noise)o->noise, o->noise_folds, seed, e,
                           &spread));
    m->noise = (int)spread.kind, m->scale = spread.scale, m->rmse = spread.rmse;
    m->folds = spread.folds;
    if (o->noise != CRI_SVR_NONE && isnan(m->scale)) cri_warn_no_spread(cx);
    CR_TRY(cri_svm_function_keep(cx, &m->f, data, fit.beta, bound, &fit.from));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status svr_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                         void **out_state, cr_report *report)
{
    cr_status          st = CR_OK;
    const svr_options *o = options;
    cri_svr           *m = cr_alloc(cx, 1, sizeof *m);
    cri_gp_data        data = { 0 };

    if (!m) return CR_ENOMEM;
    m->kind = o->kind, m->C = o->C, m->f.tol = o->tol;
    m->nu = o->kind == CRI_SVR_NU ? o->nu : 0;
    CR_TRY(cri_check_sizes(cx, rows, true));
    CR_TRY(cri_gp_data_add(cx, &data, rows, NULL, false, NULL));
    CR_TRY(sort_rows(cx, &data));
    set_units(m, &data, o->units == 1);
    CR_TRY(cri_svm_kernel(cx, "svr", o->kernel, 0.5, rows, &data, &m->f.kernel));
    CR_TRY(fit_data(cx, &data, o, seed, m, report));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_svr, m);
    cri_gp_data_free(cx, &data);
    return st;
}

/* --- predict --------------------------------------------------------------------------------- */

/* The function, with noise around it where it is wanted and known. */
static cr_status svr_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    cr_status      st = CR_OK;
    const cri_svr *m = state;
    bool           laplace = m->noise == CRI_SVR_LAPLACE && !isnan(m->scale);
    double         unit = rows->design->target_scale;
    CR_TRY(cri_svm_function_values(cx, &m->f, rows, out->mean));
    for (size_t i = 0; i < rows->n; i++) out->mean[i] = m->shift + m->unit * out->mean[i];
    if (!out->scale) goto done;
    if (laplace) CR_TRY(cri_prediction_family(cx, out, "laplace", 2));
    for (size_t i = 0; i < rows->n; i++) {
        out->dof[i] = INFINITY;
        out->scale[i] = m->unit * m->scale * (laplace ? sqrt(2) : 1);
        if (!laplace) continue;
        out->params[2 * i] = out->mean[i] * unit + rows->design->target_shift;
        out->params[2 * i + 1] = m->unit * m->scale * unit;
    }
done:
    return st;
}

/* --- describe and file ----------------------------------------------------------------------- */

static const char *const noise_names[] = { "auto", "laplace", "gaussian", "none" };

static const cr_field svr_statistics[] = {
    CRI_SVM_FUNCTION_FIELDS,
    CR_TEXT("kind", 0, "epsilon or nu"),
    CR_NUMBER("C", 0, "the price of an error, in units of `unit`"),
    CR_MEASURE("epsilon", "target", CR_FIELD_NULL, "half-width of the tube"),
    CR_NUMBER("nu", CR_FIELD_SOMETIMES, "of nu: the share of rows outside the tube"),
    CR_MEASURE("unit", "target", 0,
               "what C and epsilon were measured in: the standard deviation of the target, or 1"),
    CR_TEXT("noise", 0, "distribution around the function: laplace, gaussian or none"),
    CR_MEASURE("noise_sd", "target", CR_FIELD_NULL, "its standard deviation, everywhere the same"),
    CR_MEASURE("held_out_rmse", "target", CR_FIELD_NULL,
               "root mean squared error of rows left out"),
    CR_COUNT("folds", 0, "in how many parts rows were left out; 0: none were"),
    CR_FIELD_LAST,
};

static cr_status svr_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    const cri_svr *m = state;
    double         unit = m->unit * design->target_scale;
    cri_sheet     *list = cri_put_list(out, "parameters"), *s;
    (void)cx;

    cri_svm_function_describe_parameters(
        &m->f, design, (m->shift + m->unit * m->f.b) * design->target_scale + design->target_shift,
        list);
    s = cri_put_object(out, "statistics");
    cri_svm_function_describe(&m->f, s);
    cri_put_text(s, "kind", m->kind == CRI_SVR_NU ? "nu" : "epsilon");
    cri_put_real(s, "C", m->C);
    cri_put_real(s, "epsilon", m->epsilon * unit);
    if (m->kind == CRI_SVR_NU) cri_put_real(s, "nu", m->nu);
    cri_put_real(s, "unit", unit);
    cri_put_text(s, "noise", noise_names[m->noise]);
    cri_put_real(s, "noise_sd", m->scale * (m->noise == CRI_SVR_LAPLACE ? sqrt(2) : 1) * unit);
    cri_put_real(s, "held_out_rmse", m->rmse * unit);
    cri_put_count(s, "folds", m->folds);
    return CR_OK;
}

static cr_status svr_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cri_svr *m = state;
    if (m->noise == CRI_SVR_AUTO) return CR_EDATA;
    return cri_svm_function_ready(cx, &m->f, design);
}

static cr_status svr_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    return cri_gp_shape_texts(cx, ((const svr_options *)options)->kernel, design);
}

const cr_model_class cri_class_svr = {
    .name = "svr",
    .summary = "support vector regression: a tube around the targets, as flat as can be",
    .formulas = "f(x) = sum_i beta_i k(x_i, x) + b\n"
                "minimise  1/2 |w|^2 + C sum_i w_i max(0, |y_i - f(x_i)| - epsilon),  "
                "|w|^2 = beta^T K beta",
    .reference = "Smola & Schoelkopf (2004), Statistics and Computing 14; Schoelkopf & Smola "
                 "(2002), Learning with Kernels, ch. 9",
    .tasks = CR_TASK_REGRESSION,
    .for_classes = "use svm for classes",
    .options = svr_table,
    .options_size = sizeof(svr_options),
    .requirements = svr_requirements,
    .default_scale = CR_SCALE_STANDARD,
    .coding = CRI_CODING_CODE,
    .shape = svr_shape,
    .whole = &(const cri_whole_face){ .fit = svr_fit },
    .rows = &(const cri_rows_face){ .predict = svr_predict, .means_alone = true },
    .describe = svr_describe,
    .statistics = svr_statistics,
    .state = svr_record,
    .state_size = sizeof(cri_svr),
    .ready = svr_ready,
    .release = svr_release,
};

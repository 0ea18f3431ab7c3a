/* one_class.c -- the region where most rows lie, by support vectors.
 *   f(x) = sum_i a_i k(x_i, x) - r,   a row is within the region where f(x) >= 0, as far as tol tells
 *   minimise  1/2 a^T K a   with  0 <= a_i <= w_i,  sum_i a_i = nu W,   W = sum_i w_i
 * which is the plane in the space of features that is farthest from 0 with all but a few rows beyond it: at most a share nu
 * of the rows is outside, and at least such a share are support vectors.  Of kernels that depend on distance alone this is
 * the smallest ball around the rows.  Solved to a violation of the optimality conditions of at most tol; the
 * answer has its duality gap.  Rows of equal inputs are merged.  Cost: between O(n^2 d) and O(n^2 s); O(s d) for a new row.
 * Schoelkopf, Platt, Shawe-Taylor, Smola & Williamson (2001), Neural Computation 13; Tax & Duin (2004), Machine
 * Learning 54. */
#include "svm_function.h"
#include "models/core/parameters.h"
#include "models/core/rows_check.h"
#include "models/kernel/default_kernel.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define ONE_CLASS_OPTIONS(X)                                                                       \
    X(text,  kernel,   "",     "", "kernel expression (see credence models kernels); default: rbf with the median distance between rows as length-scale; LIBSVM's gamma is rbf(gamma=0.1)", "'rbf(l=2)'") \
    X(real,  nu,       "0.1",  "0<..1", "at most this share of the rows is outside the region, and at least this share are support vectors", "0.05") \
    X(real,  tol,      "1e-3", ">0", "stop when the optimality conditions hold to this", "1e-6")                                                    \
    X(count, max_iter, "100000000", ">=1", "give up after this many steps of two weights", "100000")
/* clang-format on */

CR_OPTIONS(one_class_options, one_class_table, ONE_CLASS_OPTIONS);

CRI_RECORD_TABLE(static, one_class_record, cri_one_class, CRI_ONE_CLASS);

static void one_class_release(cr_ctx *cx, void *state)
{
    cri_svm_function_release(cx, &((cri_one_class *)state)->f);
}

/* --- fit ------------------------------------------------------------------------------------- */

/* Distinct inputs with the weights of the rows there: those of one place share a variable. */
static cr_status fit_data(cr_ctx *cx, const cri_gp_data *data, const one_class_options *o,
                          cri_one_class *m, cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = data->n;
    double    *sign = cr_scratch_f64(&s, n), *linear = cr_scratch_bytes(&s, n, sizeof(double));
    double    *upper = cr_scratch_f64(&s, n), left = o->nu * data->count;
    cri_svm_solution x = { .alpha = cr_scratch_f64(&s, n), .value = cr_scratch_f64(&s, n) };
    cri_svm_settings how = { .tol = o->tol, .max_iter = o->max_iter, .shrink = true };
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        sign[i] = 1;
        upper[i] = 1 / data->r[i];
        x.alpha[i] = fmin(left, upper[i]);
        left -= x.alpha[i];
    }
    how.clock = cri_clock_start(cx, NAN);
    cri_svm_problem problem = { .kernel = m->f.kernel,
                                .rows = cri_gp_inputs(data),
                                .n = n,
                                .sign = sign,
                                .linear = linear,
                                .upper = upper };
    CR_TRY(cri_svm_solve(cx, &problem, &how, &x));
    cri_svm_function_report(cx, "one-class-svm", &x, report);
    m->f.b = x.b[0];
    CR_TRY(cri_svm_function_keep(cx, &m->f, data, x.alpha, upper, &x));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status one_class_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                               void **out_state, cr_report *report)
{
    cr_status                st = CR_OK;
    const one_class_options *o = options;
    cri_one_class           *m = cr_alloc(cx, 1, sizeof *m);
    cri_gp_data              data = { 0 };
    (void)seed;

    if (!m) return CR_ENOMEM;
    m->nu = o->nu, m->f.tol = o->tol;
    CR_TRY(cri_check_sizes(cx, rows, true));
    CR_TRY(cri_inputs_add(cx, &data, rows));
    CR_TRY(cri_svm_kernel(cx, "one-class-svm", o->kernel, 1, rows, &data, &m->f.kernel));
    CR_TRY(fit_data(cx, &data, o, m, report));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_one_class_svm, m);
    cri_gp_data_free(cx, &data);
    return st;
}

/* --- predict --------------------------------------------------------------------------------- */

static const char *const *one_class_labels(const void *state, size_t *out_n)
{
    static const char *const labels[] = { "decision", "inlier" };
    (void)state;
    *out_n = 2;
    return labels;
}

static cr_status one_class_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                   cr_prediction *out)
{
    cr_status            st = CR_OK;
    const cri_one_class *m = state;
    cr_scratch           s = cr_scratch_begin(cx);
    double              *f = cr_scratch_f64(&s, rows->n);
    CR_TRY(s.status);
    CR_TRY(cri_svm_function_values(cx, &m->f, rows, f));
    for (size_t i = 0; i < rows->n; i++) {
        out->vector[2 * i] = f[i];
        out->vector[2 * i + 1] = isnan(f[i]) ? NAN : f[i] >= -m->f.tol; /* the edge belongs to it */
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- describe and file ----------------------------------------------------------------------- */

static const cr_field one_class_statistics[] = {
    CRI_SVM_FUNCTION_FIELDS,
    CR_NUMBER("nu", CR_FIELD_NULL, "the share of rows that may be outside the region"),
    CR_NUMBER("rho", 0, "what is taken off the sum over support vectors"),
    CR_FIELD_LAST,
};

static cr_status one_class_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                    cri_sheet *out)
{
    const cri_one_class *m = state;
    (void)cx;
    cri_svm_function_describe_parameters(&m->f, design, m->f.b, cri_put_list(out, "parameters"));
    cri_sheet *s = cri_put_object(out, "statistics");
    cri_svm_function_describe(&m->f, s);
    cri_put_real(s, "nu", m->nu);
    cri_put_real(s, "rho", -m->f.b);
    return CR_OK;
}

static cr_status one_class_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    return cri_svm_function_ready(cx, &((cri_one_class *)state)->f, design);
}

static cr_status one_class_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    return cri_gp_shape_texts(cx, ((const one_class_options *)options)->kernel, design);
}

const cr_model_class cri_class_one_class_svm = {
    .name = "one-class-svm",
    .summary = "one-class support vector machine: the region where most rows lie",
    .formulas = "f(x) = sum_i a_i k(x_i, x) - rho,  within the region where f(x) >= 0\n"
                "minimise  1/2 a^T K a  with  0 <= a_i <= w_i,  sum_i a_i = nu sum_i w_i",
    .reference =
        "Schoelkopf, Platt, Shawe-Taylor, Smola & Williamson (2001), Neural Computation 13",
    .tasks = CR_TASK_TRANSFORM,
    .options = one_class_table,
    .options_size = sizeof(one_class_options),
    .default_scale = CR_SCALE_STANDARD,
    .coding = CRI_CODING_CODE,
    .shape = one_class_shape,
    .whole = &(const cri_whole_face){ .fit = one_class_fit },
    .rows = &(const cri_rows_face){ .predict = one_class_predict,
                                    .labels = one_class_labels,
                                    .region = true },
    .describe = one_class_describe,
    .statistics = one_class_statistics,
    .state = one_class_record,
    .state_size = sizeof(cri_one_class),
    .ready = one_class_ready,
    .release = one_class_release,
};

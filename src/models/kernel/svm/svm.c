/* svm.c -- support vector machines for classes.
 *   f(x) = sum_i beta_i k(x_i, x) + b,   class by the sign of f
 *   minimise  1/2 |w|^2 + C sum_i w_i max(0, 1 - y_i f(x_i)),   |w|^2 = beta^T K beta
 * and, of nu, C by the share of rows that may lie within the margin (svm_machine.h).  The dual is solved to a violation of
 * the Karush-Kuhn-Tucker conditions of at most tol, and the answer says by its duality gap how far from the optimum it can
 * be.  Cost: between O(n^2 d) and O(n^2 s) for n rows and s support vectors; O(s d) for a new row.
 * Cortes & Vapnik (1995), Machine Learning 20; Schoelkopf & Smola (2002), Learning with Kernels, ch. 7. */
#include "svm.h"
#include "linear_machine.h"
#include "svm_function.h"
#include "models/common/kept.h"
#include "models/core/parameters.h"
#include "models/core/rows_check.h"
#include "models/kernel/default_kernel.h"
#include "base/list.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "models/common/column_kinds.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define SVM_OPTIONS(X)                                                                             \
    X(text,   kernel,   "",     "", "kernel expression (see credence models kernels); default: rbf with half the median distance between rows as length-scale; LIBSVM's gamma is rbf(gamma=0.1)", "'rbf(l=2)'") \
    X(choice, kind,     "c",    "c|nu", "how errors are limited: by their price C, or by the share nu of rows within the margin", "nu")              \
    X(text,   C,        "1",    "X", "price of an error; inf: none is allowed, the hard margin", "10")                                             \
    X(real,   nu,       "0.5",  "0<..1", "with --kind nu: at most this share of the rows is within the margin, and at least this share are support vectors", "0.2") \
    X(choice, multi,    "ovo",  "ovo|ovr|crammer-singer", "many classes: a machine for each pair of them, for each against the rest, or for each and all found together", "ovr")                    \
    X(choice, margin_loss, "hinge", "hinge|squared-hinge", "with --kernel linear: what an error costs, its size or the square of that", "squared-hinge") \
    X(choice, penalty,  "l2",   "l2|l1", "with --kernel linear and the squared hinge: half the squares of the weights of columns, or their sizes, which leaves few other than 0", "l1") \
    X(list,   path,     "",     "C", "two classes: solve for these prices too, each from the one before, and show how the fit changes", "0.01,0.1,1,10") \
    X(flag,   loo,      "false", "", "two classes: estimate the errors when each row is left out, by the span of the support vectors", "true")          \
    X(real,   tol,      "1e-3", ">0", "stop when the optimality conditions hold to this", "1e-6")                                                  \
    X(count,  max_iter, "100000000", ">=1", "give up after this many steps of two weights in a machine", "100000")
/* clang-format on */

CR_OPTIONS(svm_options, svm_table, SVM_OPTIONS);
static const cri_requirement svm_requirements[] = {
    { "nu", "kind", "nu", true },
    { "C", "kind", "c", true },
    { "path", "kind", "c", true },
    { "margin_loss", "kind", "c", true },
    { "penalty", "margin_loss", "squared-hinge", false },
    CRI_REQUIREMENT_LAST,
};

CRI_RECORD_TABLE(, cri_svm_record, cri_svm, CRI_SVM_STATE);

static void svm_release(cr_ctx *cx, void *state)
{
    cri_svm *m = state;
    cr_kernel_free(cx, m->kernel);
    for (size_t k = 0; m->names && k < m->M; k++) cri_string_free(cx, m->names[k]);
    cr_free(cx, m->names, m->M, sizeof *m->names);
    cr_free(cx, m->W, m->W ? m->M * m->d : 0, sizeof *m->W);
}

/* What the values of each machine are called: of two classes nothing. */
static cr_status name_machines(cr_ctx *cx, cri_svm *m, const cr_design *design)
{
    m->names = cr_alloc(cx, m->M, sizeof *m->names);
    if (!m->names) return CR_ENOMEM;
    for (size_t k = 0; m->M > 1 && k < m->M; k++) {
        size_t plus, minus;
        cri_svm_classes_of(m, k, &plus, &minus);
        m->names[k] = minus == SIZE_MAX
                          ? cri_string_copy(cx, cr_design_class(design, plus))
                          : cri_string_format(cx, "%s/%s", cr_design_class(design, plus),
                                              cr_design_class(design, minus));
        if (!m->names[k]) return cr_error_status(cx);
    }
    return CR_OK;
}

/* --- fit ------------------------------------------------------------------------------------- */

static cr_status read_price(cr_ctx *cx, const char *text, double *out)
{
    static const char *const words[] = { "inf", NULL };
    static const char        what[] = "a number above 0, or inf";
    int                      word;
    cr_status                st = cri_word_or_number(cx, "C", text, words, what, &word, out);
    if (st != CR_OK) return st;
    if (word == 0) *out = INFINITY;
    return *out > 0 ? CR_OK : cr_fail(cx, CR_EARG, "--C: '%s' is not %s", text, what);
}

/* The rows of one class, those of equal inputs as one, added to `all`, which has room for them. */
static cr_status gather_class(cr_ctx *cx, const cri_rows *rows, size_t k, cri_gp_data *all)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_rows    some = *rows;
    cri_gp_data part = { 0 };
    size_t      d = all->d, c = all->c, n = 0;
    some.w = cr_scratch_f64(&s, rows->n);
    CR_TRY(s.status);
    for (size_t i = 0; i < rows->n; i++) {
        some.w[i] = rows->y[i] == (double)k ? rows->w ? rows->w[i] : 1 : 0;
        n += some.w[i] > 0;
    }
    if (n == 0) goto done;
    CR_TRY(cri_gp_data_add(cx, &part, &some, NULL, true, NULL));
    CR_TRY(cri_gp_data_sort(cx, &part));
    if (d) memcpy(all->X + all->n * d, part.X, part.n * d * sizeof *part.X);
    if (c) memcpy(all->codes + all->n * c, part.codes, part.n * c * sizeof *part.codes);
    memcpy(all->first + all->n, part.first, part.n * sizeof *part.first);
    memcpy(all->y + all->n, part.y, part.n * sizeof *part.y);
    memcpy(all->r + all->n, part.r, part.n * sizeof *part.r);
    all->n += part.n;
    all->count += part.count;
done:
    cri_gp_data_free(cx, &part);
    cr_scratch_end(&s);
    return st;
}

/* The rows class by class, in an order of their own, so that theirs makes no difference; a row stands for all that equal it, r being 1 / their weight. */
static cr_status gather_rows(cr_ctx *cx, const cri_rows *rows, size_t K, cri_gp_data *out)
{
    cr_status   st = CR_OK;
    cri_gp_data all = { 0 };
    size_t      d, c;
    cri_gp_shape(rows->design, &d, &c);
    CR_TRY(cri_gp_data_new(cx, rows->n, d, c, &all));
    all.n = 0;
    for (size_t k = 0; k < K; k++) CR_TRY(gather_class(cx, rows, k, &all));
    CR_TRY(cri_gp_data_copy(cx, &all, out));
done:
    all.n = rows->n;
    cri_gp_data_free(cx, &all);
    return st;
}

static void warn_of_stop(cr_ctx *cx, const cri_svm *m, const cr_report *report)
{
    double gap = cri_svm_gap(m);
    if (report->stop != CR_STOP_TIME) return;
    if (isnan(gap))
        cr_log(cx, CR_LOG_WARNING,
               "svm: the time limit ended the search, and left none to tell how far from the "
               "optimum it is");
    else
        cr_log(cx, CR_LOG_WARNING,
               "svm: the time limit ended the search with a duality gap of %.3g", gap);
}

/* The prices of --path, rising, into the state. */
static cr_status read_path(cr_ctx *cx, const char *list, cri_svm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    char     **items = NULL;
    size_t     n = 0;
    CR_TRY(cri_list_split(&s, list, &items, &n));
    m->path_C = cr_alloc(cx, n, sizeof *m->path_C);
    if (!m->path_C) CR_TRY(CR_ENOMEM);
    m->P = n;
    for (size_t i = 0; i < n; i++) {
        if (!cri_text_number(items[i], &m->path_C[i]) || !(m->path_C[i] > 0))
            CR_TRY(cr_fail(cx, CR_EARG, "--path: '%s' is not a number above 0", items[i]));
    }
    cri_sort_doubles(m->path_C, n);
done:
    cr_scratch_end(&s);
    return st;
}

/* What is of the only machine there is: of the rows, which come class by class, of two classes. */
static cr_status check_two(cr_ctx *cx, const svm_options *o, const cri_svm *m,
                           const cri_gp_data *data)
{
    size_t there = 1;
    for (size_t i = 1; i < data->n; i++) there += data->y[i] != data->y[i - 1];
    if ((there > 2 || (m->M > 1 && m->multi != CRI_SVM_OVO)) && (o->path || o->loo))
        return cr_fail(cx, CR_EARG, "svm: --%s is for two classes, but there are %zu",
                       o->path ? "path" : "loo", m->K);
    if (m->penalty && (o->path || o->loo)) {
        cr_fail(cx, CR_EARG, "svm: --%s needs support vectors, which --penalty l1 has none of",
                o->path ? "path" : "loo");
        return cr_fail_hint(cx, "leave --penalty out");
    }
    return CR_OK;
}

/* Classes together: of an error of a given price, and its size. */
static cr_status check_joint(cr_ctx *cx, const svm_options *o, const cri_svm *m)
{
    if (o->multi != CRI_SVM_CRAMMER_SINGER) return CR_OK;
    if (o->kind == CRI_SVM_NU)
        cr_fail(cx, CR_EARG, "svm: --multi crammer-singer requires --kind c");
    else if (!isfinite(m->C))
        cr_fail(cx, CR_EARG, "svm: --multi crammer-singer requires a finite C");
    else if (m->loss != CRI_SVM_HINGE)
        cr_fail(cx, CR_EARG, "svm: --multi crammer-singer requires --margin-loss hinge");
    else
        return CR_OK;
    return cr_fail_hint(cx, "--multi ovr takes all of them");
}

/* Other losses and penalties are of the weights of columns. */
static cr_status check_loss(cr_ctx *cx, const cri_svm *m)
{
    if (m->loss == CRI_SVM_HINGE && m->penalty == CRI_SVM_L2) return CR_OK;
    if (!cri_svm_is_linear(m->kernel)) {
        cr_fail(cx, CR_EARG, "svm: --margin-loss squared-hinge requires --kernel linear");
        return cr_fail_hint(cx, "add --kernel linear");
    }
    if (isfinite(m->C)) return CR_OK;
    cr_fail(cx, CR_EARG, "svm: --margin-loss squared-hinge requires a finite C");
    return cr_fail_hint(cx, "--C 1e6 allows hardly any error");
}

static cr_status fit_rows(cr_ctx *cx, const cri_rows *rows, const svm_options *o, cri_svm *m,
                          cr_report *report)
{
    cr_status        st = CR_OK;
    cri_gp_data      data = { 0 };
    cri_svm_settings how = {
        .tol = o->tol, .max_iter = o->max_iter, .shrink = true, .clock = cri_clock_start(cx, NAN)
    };
    CR_TRY(cri_check_row_classes(cx, rows));
    if (rows->sparse) { /* by sparse_when: the kernel is linear */
        CR_TRY(cri_gp_kernel_for(cx, o->kernel, rows->design, NULL, &m->kernel));
        report->stop = CR_STOP_TOLERANCE;
        CR_TRY(cri_svm_train_sparse(cx, m, rows, &how, report));
        goto keep;
    }
    CR_TRY(cri_check_sizes(cx, rows, true));
    CR_TRY(gather_rows(cx, rows, m->K, &data));
    m->rows = data.count;
    CR_TRY(check_two(cx, o, m, &data));
    CR_TRY(cri_svm_kernel(cx, "svm", o->kernel, 0.5, rows, &data, &m->kernel));
    CR_TRY(check_loss(cx, m));
    report->stop = CR_STOP_TOLERANCE;
    CR_TRY(cri_svm_train_all(cx, m, m->kernel, &data, rows->design, o->loo, &how, report));
keep:
    cri_kernel_drop_tables(cx, m->kernel);
    CR_TRY(cri_gp_kernel_keep(cx, m->kernel, &m->formula, &m->centre));
    CR_TRY(name_machines(cx, m, rows->design));
    CR_TRY(cri_svm_set_weights(cx, m));
    warn_of_stop(cx, m, report);
done:
    cri_gp_data_free(cx, &data);
    return st;
}

static cr_status svm_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                         void **out_state, cr_report *report)
{
    cr_status          st = CR_OK;
    const svm_options *o = options;
    cri_svm           *m = cr_alloc(cx, 1, sizeof *m);
    (void)seed;

    if (!m) return CR_ENOMEM;
    m->loo = NAN;
    m->kind = o->kind, m->multi = o->multi, m->tol = o->tol;
    m->loss = (size_t)o->margin_loss, m->penalty = (size_t)o->penalty;
    m->K = cr_design_classes(rows->design);
    m->M = cri_svm_machines((cri_svm_multi)o->multi, m->K);
    if (o->kind == CRI_SVM_NU)
        m->nu = o->nu;
    else
        CR_TRY(read_price(cx, o->C, &m->C));
    if (o->path) CR_TRY(read_path(cx, o->path, m));
    CR_TRY(check_joint(cx, o, m));
    CR_TRY(fit_rows(cx, rows, o, m, report));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_svm, m);
    return st;
}

/* --- predict --------------------------------------------------------------------------------- */

static cr_status svm_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    cr_status      st = CR_OK;
    const cri_svm *m = state;
    CR_TRY(cri_prediction_decisions(cx, out, m->M, m->K > 2 && m->multi == CRI_SVM_OVO,
                                    (const char *const *)m->names));
    CR_TRY(cri_svm_decide(cx, m, rows, out->decision));
    for (size_t i = 0; i < rows->n; i++)
        cri_svm_rank(m, out->decision + i * m->M, out->prob + i * m->K);
done:
    return st;
}

static void svm_prices(const void *state, cri_price_path *out)
{
    const cri_svm *m = state;
    *out = (cri_price_path){ .n = m->P,
                             .own = m->C,
                             .price = m->path_C,
                             .errors = m->path_errors,
                             .left_out = m->path_loo,
                             .support = m->path_support };
}

/* --- file ------------------------------------------------------------------------------------ */

static bool is_sound(const cri_svm *m)
{
    size_t l = 0;
    for (size_t k = 0; k < m->M; k++) {
        if (m->links[k] > m->S - l || m->bounded[k] > m->links[k]) return false;
        l += m->links[k];
    }
    for (size_t i = 0; i < m->S; i++)
        if (m->row[i] >= m->n) return false;
    return l == m->S;
}

static cr_status svm_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    cr_status       st = CR_OK;
    cri_svm        *m = state;
    cr_kernel_input at = cri_svm_inputs(m);
    size_t          d, c;
    cri_gp_shape(design, &d, &c);
    if (m->d != d || m->c != c || m->K != cr_design_classes(design) ||
        m->M != cri_svm_machines((cri_svm_multi)m->multi, m->K) || !is_sound(m) || m->loss > 1 ||
        m->penalty > 1 || !cri_gp_codes_fit(design, m->codes, m->n, c))
        return CR_EDATA;
    CR_TRY(cri_gp_kernel_restore_any(cx, m->formula, &m->centre, &at, design, &m->kernel));
    CR_TRY(name_machines(cx, m, design));
    if (m->penalty && !cri_svm_is_linear(m->kernel)) CR_TRY(CR_EDATA);
    CR_TRY(cri_svm_set_weights(cx, m));
done:
    return st;
}

static cr_status svm_shape(cr_ctx *cx, const void *options, cr_design *design)
{
    return cri_gp_shape_texts(cx, ((const svm_options *)options)->kernel, design);
}

/* Sparse rows stay so where the weights of columns are all that is needed. */
static bool svm_sparse_when(const void *options)
{
    const svm_options *o = options;
    return o->kernel && strcmp(o->kernel, "linear") == 0 && o->kind == CRI_SVM_C &&
           strcmp(o->C, "inf") != 0 && !o->path && !o->loo;
}

const cr_model_class cri_class_svm = {
    .name = "svm",
    .example = "examples/iris.csv --target species",
    .summary = "support vector machine: the widest margin between classes",
    .formulas = "f(x) = sum_i beta_i k(x_i, x) + b,  class by the sign of f\n"
                "minimise  1/2 |w|^2 + C sum_i w_i max(0, 1 - y_i f(x_i)),  |w|^2 = beta^T K beta",
    .reference =
        "Cortes & Vapnik (1995), Machine Learning 20; Schoelkopf & Smola (2002), Learning with "
        "Kernels, ch. 7",
    .tasks = CR_TASK_CLASSIFICATION,
    .options = svm_table,
    .options_size = sizeof(svm_options),
    .requirements = svm_requirements,
    .default_scale = CR_SCALE_STANDARD,
    .takes_sparse = true,
    .sparse_when = svm_sparse_when,
    .coding = CRI_CODING_CODE,
    .shape = svm_shape,
    .whole = &(const cri_whole_face){ .fit = svm_fit },
    .rows = &(const cri_rows_face){ .predict = svm_predict, .decides = true, .prices = svm_prices },
    .describe = cri_svm_describe,
    .statistics = cri_svm_statistics,
    .tables = cri_svm_tables,
    .state = cri_svm_record,
    .state_size = sizeof(cri_svm),
    .ready = svm_ready,
    .release = svm_release,
};

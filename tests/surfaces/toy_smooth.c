/* toy_smooth.c -- a toy model that does regression and classification: an average over the training
 * rows, weighted by exp(-|x - x_i|^2 / (2 width^2)).  An offset column may be named, which is added
 * to the answer of a number.  With the family "gamma" or "poisson" numbers are positive or counts.
 */
#include "models/core/class.h"

#include <math.h>
#include <string.h>

#define TOY_OPTIONS(X)                                                                             \
    X(real, width, "0.7", ">0", "width of the kernel", "2")                                        \
    X(choice, family, "normal", "normal|gamma|poisson", "distribution of a number", "gamma")       \
    X(text, offset, "", "COLUMN", "column added to the prediction of a number", "base")
enum { NORMAL, GAMMA, POISSON };
CR_OPTIONS_STRUCT(toy_options, TOY_OPTIONS);
#define ROW(...) CR_OPTION_ROW(toy_options, __VA_ARGS__)
static const cr_option toy_table[] = { TOY_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

/* clang-format off */
#define TOY_STATE(MEMBER)                                                                          \
    MEMBER(count,  n,       (),     "",     "rows")                                                \
    MEMBER(count,  p,       (),     "",     "terms")                                               \
    MEMBER(count,  classes, (),     "",     "0: numbers")                                          \
    MEMBER(count,  family,  (),     "0..2", "of numbers")                                          \
    MEMBER(real,   width,   (),     ">0",   "of the kernel")                                       \
    MEMBER(matrix, X,       (n, p), "",     "the rows")                                            \
    MEMBER(vector, y,       (n),    "",     "their targets")                                       \
    MEMBER(vector, w,       (n),    ">=0",  "their weights")
/* clang-format on */
CRI_RECORD(toy_state, TOY_STATE);
#define CRI_TYPE toy_state
static const cri_member toy_record[] = { TOY_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE
extern const cr_model_class cri_class_toy_smooth;

static cr_status learn(cr_ctx *cx, const toy_state *opt_old, const cri_rows *rows,
                       const toy_options *o, void **out, cr_report *report)
{
    cr_status  st = CR_OK;
    size_t     old = opt_old ? opt_old->n : 0;
    toy_state *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    m->n = old + rows->n, m->p = rows->p, m->width = o->width;
    m->classes = cr_design_classes(rows->design), m->family = (size_t)o->family;
    CR_TRY(cri_record_allocate(cx, toy_record, m));
    for (size_t i = 0; i < old; i++) m->y[i] = opt_old->y[i], m->w[i] = opt_old->w[i];
    if (old) memcpy(m->X, opt_old->X, old * m->p * sizeof(double));
    CR_TRY(cri_rows_matrix(cx, rows, m->X + old * m->p));
    for (size_t i = 0; i < rows->n; i++) {
        m->y[old + i] = rows->y[i] - (m->classes == 0 && rows->roles[0] ? rows->roles[0][i] : 0);
        m->w[old + i] = rows->w ? rows->w[i] : 1;
    }
    report->stop = CR_STOP_CLOSED_FORM;
    *out = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_toy_smooth, m);
    return st;
}

static cr_status toy_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                         void **out_state, cr_report *report)
{
    (void)seed;
    return learn(cx, NULL, rows, options, out_state, report);
}

static cr_status toy_update(cr_ctx *cx, const void *state, const cri_rows *rows,
                            const void *options, void **out_state, cr_report *report)
{
    return learn(cx, state, rows, options, out_state, report);
}

static double squared_distance(const toy_state *m, const double *x, size_t i)
{
    double d = 0;
    for (size_t j = 0; j < m->p; j++)
        d += (x[j] - m->X[i * m->p + j]) * (x[j] - m->X[i * m->p + j]);
    return d;
}

/* Weights of the training rows for x, the largest before `w` being 1. */
static void kernel(const toy_state *m, const double *x, double *k)
{
    double least = INFINITY;
    for (size_t i = 0; i < m->n; i++) {
        k[i] = squared_distance(m, x, i);
        if (m->w[i] > 0 && k[i] < least) least = k[i];
    }
    for (size_t i = 0; i < m->n; i++)
        k[i] = m->w[i] * exp(-(k[i] - least) / (2 * m->width * m->width));
}

static void answer_number(const toy_state *m, const double *k, double offset, size_t i,
                          cr_prediction *out)
{
    double sum = 0, mean = 0, square = 0;
    for (size_t r = 0; r < m->n; r++) sum += k[r], mean += k[r] * m->y[r];
    mean /= sum;
    for (size_t r = 0; r < m->n; r++) square += k[r] / sum * (m->y[r] - mean) * (m->y[r] - mean);
    mean += offset;
    out->mean[i] = mean;
    out->scale[i] = sqrt(square + 1e-4);
    out->dof[i] = INFINITY;
    if (m->family == GAMMA) { /* shape 4 */
        out->scale[i] = mean / 2;
        out->params[2 * i] = 4, out->params[2 * i + 1] = 4 / mean;
    }
    if (m->family == POISSON) out->scale[i] = sqrt(mean), out->params[i] = mean;
}

static void answer_class(const toy_state *m, const double *k, double *prob)
{
    double sum = 0;
    for (size_t c = 0; c < m->classes; c++) prob[c] = 1e-3;
    for (size_t r = 0; r < m->n; r++) prob[(size_t)m->y[r]] += k[r];
    for (size_t c = 0; c < m->classes; c++) sum += prob[c];
    for (size_t c = 0; c < m->classes; c++) prob[c] /= sum;
}

static cr_status toy_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    cr_status        st = CR_OK;
    const toy_state *m = state;
    double          *x = cr_alloc(cx, m->p, sizeof *x), *k = cr_alloc(cx, m->n, sizeof *k);
    if (!x || !k) CR_TRY(CR_ENOMEM);
    if (m->classes == 0 && m->family == GAMMA) CR_TRY(cri_prediction_family(cx, out, "gamma", 2));
    if (m->classes == 0 && m->family == POISSON)
        CR_TRY(cri_prediction_family(cx, out, "poisson", 1));
    for (size_t i = 0; i < rows->n; i++) {
        cri_rows_fill(rows, i, i + 1, x, m->p);
        kernel(m, x, k);
        if (m->classes)
            answer_class(m, k, out->prob + i * m->classes);
        else
            answer_number(m, k, rows->roles[0] ? rows->roles[0][i] : 0, i, out);
    }
done:
    cr_free(cx, x, m->p, sizeof *x);
    cr_free(cx, k, m->n, sizeof *k);
    return st;
}

static const cr_field toy_statistics[] = { CR_NUMBER("width", CR_FIELD_NULL, "width of the window"),
                                           CR_FIELD_LAST };

static cr_status toy_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    const toy_state *m = state;
    cri_sheet       *list = cri_put_list(out, "parameters");
    (void)cx;
    (void)design;
    (void)list;
    cri_put_real(cri_put_object(out, "statistics"), "width", m->width);
    return CR_OK;
}

static cr_status toy_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    const toy_state *m = state;
    (void)cx;
    return m->p == cr_design_terms(design) && m->classes == cr_design_classes(design) ? CR_OK
                                                                                      : CR_EDATA;
}

static const char *const roles[] = { "offset", NULL };

const cr_model_class cri_class_toy_smooth = {
    .name = "toy-smooth",
    .summary = "an average of the training rows near by",
    .formulas = "sum_i k(x, x_i) y_i / sum_i k(x, x_i),  k = exp(-|x - x_i|^2 / (2 width^2))",
    .reference = "Nadaraya (1964), Theory of Probability and its Applications 9",
    .tasks = CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION,
    .options = toy_table,
    .options_size = sizeof(toy_options),
    .default_scale = CR_SCALE_NONE,
    .coding = CRI_CODING_ALL,
    .roles = roles,
    .whole = &(const cri_whole_face){ .fit = toy_fit, .update = toy_update },
    .rows = &(const cri_rows_face){ .predict = toy_predict },
    .describe = toy_describe,
    .statistics = toy_statistics,
    .state = toy_record,
    .state_size = sizeof(toy_state),
    .ready = toy_ready,
};

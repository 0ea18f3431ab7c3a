/* toy_mixture.c -- a toy model found by EM: a mixture of round normal clouds, each of its own size.
 *   p(x) = sum_k share_k N(x; centre_k, var_k I)
 * No more than its mathematics is here; loop, starts, threads, streams and the file are the library's. */
#include "models/core/em.h"
#include "math/special/special.h"

#include <math.h>

#define TOY_OPTIONS(X)                                                                             \
    X(count, clouds, "2", "1..9", "how many clouds", "3")                                          \
    CRI_EM_OPTIONS(X)
CR_OPTIONS_STRUCT(toy_options, TOY_OPTIONS);
#define ROW(...) CR_OPTION_ROW(toy_options, __VA_ARGS__)
static const cr_option toy_table[] = { TOY_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

/* clang-format off */
#define TOY_STATE(MEMBER)                                                                          \
    MEMBER(count,  k,      (),               "1..9",   "clouds")                                   \
    MEMBER(count,  p,      (),               "",       "terms")                                    \
    MEMBER(vector, share,  (k),              ">=0 sums", "of the rows")                            \
    MEMBER(vector, var,    (k),              ">0",     "of each term")                             \
    MEMBER(matrix, centre, (k, p),           "",       "of each cloud")                            \
    MEMBER(part,   em,     (cri_em_outcome), "inside", "how it was found")
/* clang-format on */
CRI_RECORD(toy_state, TOY_STATE);
#define CRI_TYPE toy_state
static const cri_member toy_record[] = { TOY_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE
extern const cr_model_class cri_class_toy_mixture;

/* log share_c N(x; c), into out [k]; returns log p(x). */
static double score(const toy_state *m, const double *x, double *out)
{
    for (size_t c = 0; c < m->k; c++) {
        double square = 0;
        for (size_t j = 0; j < m->p; j++) square += pow(x[j] - m->centre[c * m->p + j], 2);
        out[c] = log(m->share[c]) -
                 0.5 * (square / m->var[c] + (double)m->p * log(2 * M_PI * m->var[c]));
    }
    return cr_logsumexp(out, m->k);
}

/* A row at random, each as often as it weighs: as if it stood there that many times. */
static size_t draw_row(const cri_rows *rows, cr_rng *r)
{
    double total = 0, left;
    size_t i = 0;
    for (size_t k = 0; k < rows->n; k++) total += rows->w ? rows->w[k] : 1;
    left = total * cr_rng_uniform(r);
    while (i + 1 < rows->n && (left -= rows->w ? rows->w[i] : 1) >= 0) i++;
    return i;
}

/* Centres at random rows. */
static cr_status toy_start(cr_ctx *cx, const cri_rows *rows, const void *options, cr_rng *r,
                           void **out)
{
    cr_status  st = CR_OK;
    toy_state *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    m->k = ((const toy_options *)options)->clouds, m->p = rows->p;
    CR_TRY(cri_record_allocate(cx, toy_record, m));
    for (size_t c = 0; c < m->k; c++) {
        size_t i = draw_row(rows, r);
        cri_rows_fill(rows, i, i + 1, m->centre + c * m->p, m->p);
        m->share[c] = 1 / (double)m->k, m->var[c] = 1;
    }
    *out = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_toy_mixture, m);
    return st;
}

/* Of each cloud: its weight, sum x [p] and sum |x|^2. */
static size_t toy_width(const void *state)
{
    return 1 + ((const toy_state *)state)->k * (((const toy_state *)state)->p + 2);
}

static size_t toy_work(const void *state)
{
    return ((const toy_state *)state)->p + ((const toy_state *)state)->k;
}

static void toy_gather(const void *state, const cri_rows *rows, cri_range range, double *sums,
                       double *x)
{
    const toy_state *m = state;
    double          *q = x + m->p;
    for (size_t i = range.begin; i < range.end; i++) {
        double w = rows->w ? rows->w[i] : 1, *s = sums + 1;
        cri_rows_fill(rows, i, i + 1, x, m->p);
        sums[0] += w * score(m, x, q);
        cr_softmax(q, m->k, q);
        for (size_t c = 0; c < m->k; c++, s += m->p + 2) {
            s[0] += w * q[c];
            for (size_t j = 0; j < m->p; j++)
                s[1 + j] += w * q[c] * x[j], s[1 + m->p] += w * q[c] * x[j] * x[j];
        }
    }
}

static cr_status toy_solve(cr_ctx *cx, const void *options, const double *sums, void *state)
{
    toy_state    *m = state;
    const double *s = sums + 1;
    double        total = 0;
    (void)cx, (void)options;
    for (size_t c = 0; c < m->k; c++) total += sums[1 + c * (m->p + 2)];
    for (size_t c = 0; c < m->k; c++, s += m->p + 2) {
        double square = s[1 + m->p] / s[0];
        m->share[c] = s[0] / total;
        for (size_t j = 0; j < m->p; j++) {
            double mean = m->centre[c * m->p + j] = s[1 + j] / s[0];
            square -= mean * mean;
        }
        m->var[c] = fmax(square / (double)m->p, 1e-6);
    }
    return CR_OK;
}

static const char *const names[] = { "1", "2", "3", "4", "5", "6", "7", "8", "9" };

static const char *const *toy_labels(const void *state, size_t *out_n)
{
    *out_n = ((const toy_state *)state)->k;
    return names;
}

static cr_status toy_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    const toy_state *m = state;
    double          *x = cr_alloc(cx, m->p, sizeof *x);
    if (!x) return CR_ENOMEM;
    for (size_t i = 0; i < rows->n; i++) {
        cri_rows_fill(rows, i, i + 1, x, m->p);
        out->log_density[i] = score(m, x, out->prob + i * m->k);
        cr_softmax(out->prob + i * m->k, m->k, out->prob + i * m->k);
    }
    cr_free(cx, x, m->p, sizeof *x);
    return CR_OK;
}

static const cr_field toy_statistics[] = { CRI_EM_FIELDS, CR_FIELD_LAST };

static cr_status toy_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    const toy_state *m = state;
    cri_sheet       *list = cri_put_list(out, "parameters");
    (void)cx;
    for (size_t i = 0; i < m->k * m->p; i++)
        cri_parameter_add(list, m->centre[i], NAN, "%s of %s",
                          cr_design_term_name(design, i % m->p), names[i / m->p]);
    cri_em_describe(&m->em, cri_put_object(out, "statistics"));
    return CR_OK;
}

static cr_status toy_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    (void)cx;
    return ((const toy_state *)state)->p == cr_design_terms(design) ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_toy_mixture = {
    .name = "toy-mixture",
    .summary = "a mixture of round clouds, each of its size",
    .formulas = "p(x) = sum_k share_k N(x; centre_k, var_k I)",
    .reference = "Dempster, Laird & Rubin (1977), J. Royal Stat. Soc. B 39",
    .tasks = CR_TASK_DENSITY | CR_TASK_CLUSTER,
    .options = toy_table,
    .options_size = sizeof(toy_options),
    .default_scale = CR_SCALE_NONE,
    .em = &(const cri_em_face){ .at = offsetof(toy_state, em),
                                .start = toy_start,
                                .width = toy_width,
                                .work = toy_work,
                                .gather = toy_gather,
                                .solve = toy_solve },
    .rows = &(const cri_rows_face){ .predict = toy_predict, .labels = toy_labels },
    .describe = toy_describe,
    .statistics = toy_statistics,
    .state = toy_record,
    .state_size = sizeof(toy_state),
    .ready = toy_ready,
};

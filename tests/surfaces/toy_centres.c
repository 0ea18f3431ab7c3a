/* toy_centres.c -- a toy model of clusters that has densities too: equal round normal clouds, their
 * centres by k-means from the points farthest apart. */
#include "models/core/class.h"
#include "base/rng.h"
#include "math/special/special.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOY_OPTIONS(X)                                                                             \
    X(count, n_clusters, "3", "1..9", "how many clusters", "2")                                    \
    X(count, max_iter, "50", ">=1", "most steps", "10")
CR_OPTIONS_STRUCT(toy_options, TOY_OPTIONS);
#define ROW(...) CR_OPTION_ROW(toy_options, __VA_ARGS__)
static const cr_option toy_table[] = { TOY_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

/* clang-format off */
#define TOY_STATE(MEMBER)                                                                          \
    MEMBER(count,  k,      (),     "1..9", "clusters")                                             \
    MEMBER(count,  p,      (),     "",     "terms")                                                \
    MEMBER(real,   sd,     (),     ">=0",  "of each")                                              \
    MEMBER(matrix, centre, (k, p), "",     "of each")
/* clang-format on */
CRI_RECORD(toy_state, TOY_STATE);
#define CRI_TYPE toy_state
static const cri_member toy_record[] = { TOY_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE
extern const cr_model_class cri_class_toy_centres;

static double square(const double *a, const double *b, size_t p)
{
    double sum = 0;
    for (size_t j = 0; j < p; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

static size_t nearest(const toy_state *m, size_t k, const double *x, double *out_square)
{
    size_t best = 0;
    for (size_t c = 1; c < k; c++)
        if (square(x, m->centre + c * m->p, m->p) < square(x, m->centre + best * m->p, m->p))
            best = c;
    *out_square = square(x, m->centre + best * m->p, m->p);
    return best;
}

/* The mean first; then, one by one, the row farthest from all centres so far. */
static void start(toy_state *m, const cri_rows *rows, const double *X)
{
    double total = 0, d;
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1;
        total += w;
        for (size_t j = 0; j < m->p; j++) m->centre[j] += w * X[i * m->p + j];
    }
    for (size_t j = 0; j < m->p; j++) m->centre[j] /= total;
    for (size_t c = 1; c < m->k; c++) {
        double far = -1;
        for (size_t i = 0; i < rows->n; i++) {
            if (rows->w && rows->w[i] == 0) continue;
            nearest(m, c, X + i * m->p, &d);
            if (d > far) far = d, memcpy(m->centre + c * m->p, X + i * m->p, m->p * sizeof(double));
        }
    }
}

/* One step of Lloyd's; true when nothing moved.  sum [k x (p + 1)]. */
static bool step(toy_state *m, const cri_rows *rows, const double *X, double *sum)
{
    double within = 0, total = 0, d, moved = 0;
    memset(sum, 0, m->k * (m->p + 1) * sizeof *sum);
    for (size_t i = 0; i < rows->n; i++) {
        double  w = rows->w ? rows->w[i] : 1;
        double *s = sum + nearest(m, m->k, X + i * m->p, &d) * (m->p + 1);
        for (size_t j = 0; j < m->p; j++) s[j] += w * X[i * m->p + j];
        s[m->p] += w;
        within += w * d, total += w;
    }
    for (size_t c = 0; c < m->k; c++)
        for (size_t j = 0; j < m->p; j++) {
            double *s = sum + c * (m->p + 1), *at = m->centre + c * m->p + j, old = *at;
            if (s[m->p] > 0) *at = s[j] / s[m->p];
            moved += fabs(*at - old);
        }
    m->sd = sqrt(within / (total * (double)m->p)) + 1e-6;
    return moved == 0;
}

static cr_status toy_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                         void **out_state, cr_report *report)
{
    cr_status          st = CR_OK;
    const toy_options *o = options;
    toy_state         *m = cr_alloc(cx, 1, sizeof *m);
    double            *X = NULL, *sum = NULL;
    (void)seed;
    if (!m) return CR_ENOMEM;
    m->k = o->n_clusters, m->p = rows->p;
    X = cr_alloc(cx, rows->n * rows->p, sizeof *X);
    sum = cr_alloc(cx, m->k * (m->p + 1), sizeof *sum);
    if (!X || !sum) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_record_allocate(cx, toy_record, m));
    CR_TRY(cri_rows_matrix(cx, rows, X));
    start(m, rows, X);
    report->stop = CR_STOP_LIMIT;
    while (report->iterations < o->max_iter && report->stop == CR_STOP_LIMIT) {
        report->iterations++;
        if (step(m, rows, X, sum)) report->stop = CR_STOP_TOLERANCE;
    }
    *out_state = m;
    m = NULL;
done:
    cr_free(cx, X, rows->n * rows->p, sizeof *X);
    cr_free(cx, sum, o->n_clusters * (rows->p + 1), sizeof *sum);
    cri_state_free(cx, &cri_class_toy_centres, m);
    return st;
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
        double *prob = out->prob + i * m->k;
        cri_rows_fill(rows, i, i + 1, x, m->p);
        for (size_t c = 0; c < m->k; c++)
            prob[c] = -square(x, m->centre + c * m->p, m->p) / (2 * m->sd * m->sd);
        out->log_density[i] = cr_logsumexp(prob, m->k) - log((double)m->k) -
                              (double)m->p * (log(m->sd) + 0.5 * log(2 * M_PI));
        cr_softmax(prob, m->k, prob);
    }
    cr_free(cx, x, m->p, sizeof *x);
    return CR_OK;
}

static cr_status toy_sample(cr_ctx *cx, const void *state, const cr_design *design,
                            const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    const toy_state *m = state;
    cr_rng           r = cr_rng_stream(seed, 0);
    (void)cx, (void)design, (void)opt_rows;
    for (size_t i = 0; i < count; i++) {
        size_t c = (size_t)cr_rng_below(&r, m->k);
        for (size_t j = 0; j < m->p; j++)
            out[i * m->p + j] = m->centre[c * m->p + j] + m->sd * cr_rng_normal(&r);
    }
    return CR_OK;
}

static const cr_field toy_statistics[] = {
    CR_NUMBER("sd", CR_FIELD_NULL, "standard deviation around the centres"), CR_FIELD_LAST
};

static cr_status toy_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    const toy_state *m = state;
    cri_sheet       *list = cri_put_list(out, "parameters");
    (void)cx;
    for (size_t i = 0; i < m->k * m->p; i++)
        cri_parameter_add(list, m->centre[i], NAN, "%s of %s",
                          cr_design_term_name(design, i % m->p), names[i / m->p]);
    cri_put_real(cri_put_object(out, "statistics"), "sd", m->sd);
    return CR_OK;
}

static cr_status toy_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    const toy_state *m = state;
    (void)cx;
    return m->p == cr_design_terms(design) ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_toy_centres = {
    .name = "toy-centres",
    .summary = "round clouds of one size around centres",
    .formulas = "p(x) = 1/k sum_c N(x; centre_c, sd^2 I)",
    .reference = "Lloyd (1982), IEEE Transactions on Information Theory 28",
    .tasks = CR_TASK_DENSITY | CR_TASK_CLUSTER,
    .options = toy_table,
    .options_size = sizeof(toy_options),
    .default_scale = CR_SCALE_NONE,
    .whole = &(const cri_whole_face){ .fit = toy_fit },
    .rows = &(
        const cri_rows_face){ .predict = toy_predict, .labels = toy_labels, .sample = toy_sample },
    .describe = toy_describe,
    .statistics = toy_statistics,
    .state = toy_record,
    .state_size = sizeof(toy_state),
    .ready = toy_ready,
};

/* toy_normal.c -- a toy model of densities: columns that know nothing of each other.  Numbers are
 * normal with unknown mean and variance (normal-inverse-gamma prior: centre 0, strength 0.01, shape
 * 1, scale 1), so that the next one is Student's; levels have a uniform Dirichlet prior.  Gaps are
 * left out.  Exact updates; evidence; draws; the next row. */
#include "models/core/class.h"
#include "base/rng.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

#define TOY_OPTIONS(X) X(real, shape, "1", ">0", "shape of the prior of the variance", "2")
CR_OPTIONS_STRUCT(toy_options, TOY_OPTIONS);
#define ROW(...) CR_OPTION_ROW(toy_options, __VA_ARGS__)
static const cr_option toy_table[] = { TOY_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

static const double KAPPA = 0.01, BETA = 1;

/* Column j: n[j], mean[j], square[j] = sum w (x - mean)^2 of numbers; counts of levels in
 * count[j * most .. ], of which there are levels[j] (0: numbers). */
/* clang-format off */
#define TOY_STATE(MEMBER)                                                                          \
    MEMBER(count,  p,      (),        "",    "columns")                                            \
    MEMBER(count,  most,   (),        ">0",  "levels")                                             \
    MEMBER(real,   shape,  (),        ">0",  "of the prior")                                       \
    MEMBER(vector, n,      (p),       ">=0", "weight of a column")                                 \
    MEMBER(vector, mean,   (p),       "",    "of numbers")                                         \
    MEMBER(vector, square, (p),       ">=0", "likewise")                                           \
    MEMBER(vector, levels, (p),       ">=0", "0: numbers")                                         \
    MEMBER(matrix, count,  (p, most), ">=0", "of each level")
/* clang-format on */
CRI_RECORD(toy_state, TOY_STATE);
#define CRI_TYPE toy_state
static const cri_member toy_record[] = { TOY_STATE(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE
extern const cr_model_class cri_class_toy_normal;

static size_t most_levels(const cr_design *d)
{
    size_t most = 1;
    for (size_t i = 0; i < cr_design_columns(d); i++)
        if (cr_design_levels(d, i) > most) most = cr_design_levels(d, i);
    return most;
}

static void take(toy_state *m, size_t j, double x, double w)
{
    if (isnan(x) || w == 0) return;
    m->n[j] += w;
    if (m->levels[j] > 0) {
        m->count[j * m->most + (size_t)x] += w;
        return;
    }
    double d = x - m->mean[j];
    m->mean[j] += w / m->n[j] * d;
    m->square[j] += w * d * (x - m->mean[j]);
}

/* The posterior of a column of numbers: Student's t of the next value. */
typedef struct posterior {
    double dof, centre, scale, log_evidence;
} posterior;

static posterior posterior_of(const toy_state *m, size_t j)
{
    double n = m->n[j], kappa = KAPPA + n, a = m->shape + n / 2;
    double b = BETA + 0.5 * m->square[j] + 0.5 * KAPPA * n * m->mean[j] * m->mean[j] / kappa;
    return (posterior){ 2 * a, n * m->mean[j] / kappa, sqrt(b * (kappa + 1) / (a * kappa)),
                        cr_lgamma_abs(a) - cr_lgamma_abs(m->shape) + m->shape * log(BETA) -
                            a * log(b) + 0.5 * log(KAPPA / kappa) - 0.5 * n * log(2 * M_PI) };
}

static double evidence(const toy_state *m)
{
    double sum = 0;
    for (size_t j = 0; j < m->p; j++) {
        double K = m->levels[j];
        if (K == 0) sum += posterior_of(m, j).log_evidence;
        for (size_t k = 0; k < (size_t)K; k++) sum += cr_lgamma_abs(1 + m->count[j * m->most + k]);
        if (K > 0) sum += cr_lgamma_abs(K) - cr_lgamma_abs(K + m->n[j]);
    }
    return sum;
}

static cr_status learn(cr_ctx *cx, const toy_state *opt_old, const cri_rows *rows,
                       const toy_options *o, void **out, cr_report *report)
{
    cr_status  st = CR_OK;
    toy_state *m = cr_alloc(cx, 1, sizeof *m);
    double    *x = cr_alloc(cx, rows->p, sizeof *x);
    if (!m || !x) CR_TRY(CR_ENOMEM);
    m->p = rows->p, m->most = most_levels(rows->design), m->shape = o->shape;
    CR_TRY(cri_record_allocate(cx, toy_record, m));
    for (size_t j = 0; j < m->p; j++) m->levels[j] = (double)cr_design_levels(rows->design, j);
    if (opt_old) {
        memcpy(m->n, opt_old->n, m->p * sizeof(double));
        memcpy(m->mean, opt_old->mean, m->p * sizeof(double));
        memcpy(m->square, opt_old->square, m->p * sizeof(double));
        memcpy(m->count, opt_old->count, m->p * m->most * sizeof(double));
    }
    for (size_t i = 0; i < rows->n; i++) {
        cri_rows_fill(rows, i, i + 1, x, rows->p);
        for (size_t j = 0; j < m->p; j++) take(m, j, x[j], rows->w ? rows->w[i] : 1);
    }
    report->stop = CR_STOP_CLOSED_FORM;
    report->log_evidence = evidence(m);
    *out = m;
    m = NULL;
done:
    cr_free(cx, x, rows->p, sizeof *x);
    cri_state_free(cx, &cri_class_toy_normal, m);
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

static double log_density(const toy_state *m, size_t j, double x)
{
    if (isnan(x)) return 0; /* integrated out */
    if (m->levels[j] > 0)
        return log((1 + m->count[j * m->most + (size_t)x]) / (m->levels[j] + m->n[j]));
    posterior p = posterior_of(m, j);
    return cr_student_t_logpdf((x - p.centre) / p.scale, p.dof) - log(p.scale);
}

static cr_status toy_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    const toy_state *m = state;
    double          *x = cr_alloc(cx, rows->p, sizeof *x);
    if (!x) return CR_ENOMEM;
    for (size_t i = 0; i < rows->n; i++) {
        cri_rows_fill(rows, i, i + 1, x, rows->p);
        out->log_density[i] = 0;
        for (size_t j = 0; j < m->p; j++) out->log_density[i] += log_density(m, j, x[j]);
    }
    cr_free(cx, x, rows->p, sizeof *x);
    return CR_OK;
}

static cr_status toy_next(cr_ctx *cx, const void *state, const cr_design *design,
                          cr_prediction *out)
{
    const toy_state *m = state;
    size_t           i = 0;
    (void)cx, (void)design;
    for (size_t j = 0; j < m->p; j++) {
        if (m->levels[j] > 0) continue;
        posterior p = posterior_of(m, j);
        out->mean[i] = p.centre, out->scale[i] = p.scale, out->dof[i++] = p.dof;
    }
    return CR_OK;
}

static cr_status toy_sample(cr_ctx *cx, const void *state, const cr_design *design,
                            const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    const toy_state *m = state;
    cr_rng           r = cr_rng_stream(seed, 0);
    double          *weight = cr_alloc(cx, m->most, sizeof *weight);
    (void)design, (void)opt_rows;
    if (!weight) return CR_ENOMEM;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < m->p; j++) {
            posterior p = posterior_of(m, j);
            for (size_t k = 0; k < (size_t)m->levels[j]; k++)
                weight[k] = 1 + m->count[j * m->most + k];
            out[i * m->p + j] =
                m->levels[j] > 0
                    ? (double)cr_rng_categorical(&r, weight, (size_t)m->levels[j])
                    : p.centre + p.scale * cr_rng_normal(&r) *
                                     exp(0.5 * (log(p.dof / 2) - cr_rng_log_gamma(&r, p.dof / 2)));
        }
    cr_free(cx, weight, m->most, sizeof *weight);
    return CR_OK;
}

static const cr_field toy_statistics[] = { CR_NUMBER("shape", CR_FIELD_NULL, "shape of the noise"),
                                           CR_FIELD_LAST };

static cr_status toy_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    const toy_state *m = state;
    cri_sheet       *list = cri_put_list(out, "parameters");
    (void)cx;
    for (size_t j = 0; j < m->p; j++)
        if (m->levels[j] == 0)
            cri_parameter_add(list, posterior_of(m, j).centre, NAN, "%s",
                              cr_design_term_name(design, j));
    cri_put_real(cri_put_object(out, "statistics"), "shape", m->shape);
    return CR_OK;
}

static cr_status toy_ready(cr_ctx *cx, void *state, const cr_design *design)
{
    const toy_state *m = state;
    (void)cx;
    return m->p == cr_design_terms(design) && m->most == most_levels(design) ? CR_OK : CR_EDATA;
}

const cr_model_class cri_class_toy_normal = {
    .name = "toy-normal",
    .summary = "columns that are normal, each by itself",
    .formulas = "x_j ~ N(m_j, v_j),  m_j | v_j ~ N(0, v_j / 0.01),  1 / v_j ~ Gamma(shape, 1)",
    .reference = "Gauss (1809), Theoria motus",
    .tasks = CR_TASK_DENSITY,
    .options = toy_table,
    .options_size = sizeof(toy_options),
    .default_scale = CR_SCALE_NONE,
    .takes_missing = true,
    .coding = CRI_CODING_CODE,
    .whole = &(const cri_whole_face){ .fit = toy_fit, .update = toy_update },
    .rows =
        &(const cri_rows_face){ .predict = toy_predict, .next = toy_next, .sample = toy_sample },
    .describe = toy_describe,
    .statistics = toy_statistics,
    .state = toy_record,
    .state_size = sizeof(toy_state),
    .ready = toy_ready,
};

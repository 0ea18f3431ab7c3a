/* mvn.c -- several numbers together: mean vector and covariance, with their correlations.
 *   x | mu, S ~ N(mu, S),   S ~ InverseWishart(nu, Psi),   mu | S ~ N(m, S / k),   x in R^d
 * With n rows of mean xbar and scatter Q = sum (x - xbar)(x - xbar)^T the posterior has
 *   k' = k + n,   m' = m + n / k' (xbar - m),   nu' = nu + n,
 *   Psi' = Psi + Q + k n / k' (xbar - m)(xbar - m)^T
 *   log p(x_1 .. x_n) = -n d / 2 log pi + log Gamma_d(nu'/2) / Gamma_d(nu/2) + nu/2 log|Psi|
 *                       - nu'/2 log|Psi'| + d/2 log(k / k')
 *   next ~ t with nu' - d + 1 degrees of freedom, location m',
 *          scale Psi' (k' + 1) / (k' (nu' - d + 1))
 * Gelman et al. (2013), BDA, sec. 3.6; Murphy (2007), sec. 9. */
#include "niw.h"
#include "base/parallel.h"
#include "math/special/special.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define MVN_OPTIONS(X)                                                                               \
    CRI_CONJUGATE_OPTIONS(X, "jeffreys",                                                             \
      "prior on mean and covariance: jeffreys, or mean0=M,kappa0=K,nu0=N,scale0=S; mean0.COLUMN=M and scale0.COLUMN=S for single columns", "mean0=0,kappa0=0.1,nu0=6,scale0=1")
/* clang-format on */
CR_OPTIONS(mvn_options, mvn_table, MVN_OPTIONS);

enum { BLOCK = 128, MOST_PAIRS_SHOWN = 20 };

/* --- prior ----------------------------------------------------------------------------------- */

static const char FORMS[] = "jeffreys; mean0=M,kappa0=K,nu0=N,scale0=S; mean0.COLUMN=M and "
                            "scale0.COLUMN=S for single columns";

/* Sets what one item says; false when it says nothing that is known. */
static bool take_item(const cri_prior_item *item, const cr_design *d, cri_niw *m)
{
    const struct {
        const char *name;
        double     *to;
    } vectors[] = { { "mean0", m->prior_mean }, { "scale0", m->prior_scale } };
    if (strcmp(item->key, "kappa0") == 0) return m->prior_kappa = item->value, true;
    if (strcmp(item->key, "nu0") == 0) return m->prior_nu = item->value, true;
    for (size_t v = 0; v < 2; v++) {
        size_t length = strlen(vectors[v].name);
        if (strncmp(item->key, vectors[v].name, length) != 0) continue;
        if (item->key[length] == '\0') {
            for (size_t j = 0; j < m->d; j++) vectors[v].to[j] = item->value;
            return true;
        }
        for (size_t j = 0; item->key[length] == '.' && j < m->d; j++)
            if (strcmp(item->key + length + 1, d->columns[j].name) == 0)
                return vectors[v].to[j] = item->value, true;
    }
    return false;
}

static cr_status read_prior(cr_ctx *cx, const cri_prior *p, const cr_design *d, cri_niw *m)
{
    cr_status st = CR_OK;
    if (cri_prior_is(p, "jeffreys")) { /* |S|^-(d+1)/2 */
        m->prior_nu = -1;
        goto done;
    }
    if (p->n == 0) CR_TRY(cri_prior_refuse(cx, p, FORMS));
    m->prior_kappa = m->prior_nu = NAN;
    for (size_t j = 0; j < m->d; j++) m->prior_mean[j] = m->prior_scale[j] = NAN;
    for (int single = 0; single < 2; single++) /* those of single columns last: they count more */
        for (size_t i = 0; i < p->n; i++)
            if ((strchr(p->items[i].key, '.') != NULL) == single && !take_item(&p->items[i], d, m))
                CR_TRY(cri_prior_refuse(cx, p, FORMS));
    if (isnan(m->prior_kappa) || isnan(m->prior_nu))
        CR_TRY(cr_fail(cx, CR_EARG, "--prior: kappa0 and nu0 are needed"));
    CR_TRY(cri_prior_above(cx, "kappa0", m->prior_kappa, 0));
    CR_TRY(cri_prior_above(cx, "nu0", m->prior_nu, (double)m->d - 1));
    for (size_t j = 0; j < m->d; j++) {
        if (isnan(m->prior_mean[j]) || isnan(m->prior_scale[j]))
            CR_TRY(cr_fail(cx, CR_EARG, "--prior: mean0 or scale0 is missing for column '%s'",
                           d->columns[j].name));
        CR_TRY(cri_prior_above(cx, "scale0", m->prior_scale[j], 0));
    }
done:
    return st;
}

/* --- fit ------------------------------------------------------------------------------------- */

static cr_status mvn_open(cr_ctx *cx, const cri_rows *rows, const void *options, void **out_state)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const mvn_options *o = options;
    cri_niw           *m = NULL;
    cri_prior          prior;

    CR_TRY(cri_conjugate_check(cx, "mvn", rows->design));
    CR_TRY(cri_conjugate_need_numbers(cx, "mvn", rows->design));
    CR_TRY(cri_prior_read(cx, &s, "mvn", o->prior, &prior));
    CR_TRY(cri_niw_new(cx, rows->p, &m));
    m->level = o->level;
    CR_TRY(read_prior(cx, &prior, rows->design, m));
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_mvn, m);
    cr_scratch_end(&s);
    return st;
}

static cr_status mvn_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                           cr_report *report)
{
    cr_status st = cri_niw_solve(cx, state);
    (void)design, (void)options;
    report->stop = CR_STOP_CLOSED_FORM;
    report->evidence = CR_EVIDENCE_EXACT;
    report->log_evidence = ((const cri_niw *)state)->log_evidence;
    return st;
}

/* --- answers --------------------------------------------------------------------------------- */

static double predictive_dof(const cri_niw *m) { return m->nu - (double)m->d + 1; }

/* What Psi' is multiplied by in the scale of the next row. */
static double predictive_share(const cri_niw *m)
{
    return (m->kappa + 1) / m->kappa / predictive_dof(m);
}

typedef struct scoring {
    const cri_niw  *m;
    const cri_rows *rows;
    double         *workspace; /* [blocks x d] */
    double          constant;
    double         *out;
} scoring;

/* log t(x) = constant - (dof + d) / 2 log(1 + |L^-1 (x - m')|^2 / (share dof)). */
static void score_block(void *arg, size_t b)
{
    const scoring *a = arg;
    const cri_niw *m = a->m;
    cri_range      r = cri_block_range(a->rows->n, BLOCK, b);
    double *x = a->workspace + b * m->d, dof = predictive_dof(m), share = predictive_share(m);
    for (size_t i = r.begin; i < r.end; i++) {
        double square = 0;
        cri_rows_fill(a->rows, i, i + 1, x, m->d);
        for (size_t j = 0; j < m->d; j++) x[j] -= m->mean[j];
        cri_solve_lower(m->L, m->d, x);
        for (size_t j = 0; j < m->d; j++) square += x[j] * x[j];
        a->out[i] = a->constant - 0.5 * (dof + (double)m->d) * log1p(square / share / dof);
    }
}

static cr_status mvn_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                             cr_prediction *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_niw *m = state;
    size_t         blocks = cri_block_count(rows->n, BLOCK);
    double         d = (double)m->d, dof = predictive_dof(m), share = predictive_share(m);
    scoring        a = { m, rows, cr_scratch_matrix(&s, blocks, m->d), 0, out->log_density };
    CR_TRY(s.status);
    a.constant = cr_lgamma_diff(dof / 2, d / 2) -
                 0.5 * (d * log(dof * M_PI) + d * log(share) + cri_log_det(m->L, m->d));
    CR_TRY(cri_parallel_for(cx, "scoring", blocks, score_block, &a));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status mvn_next(cr_ctx *cx, const void *state, const cr_design *design,
                          cr_prediction *out)
{
    const cri_niw *m = state;
    (void)cx, (void)design;
    for (size_t j = 0; j < m->d; j++) {
        out->mean[j] = m->mean[j];
        out->scale[j] = sqrt(m->Psi[j * m->d + j] * predictive_share(m));
        out->dof[j] = predictive_dof(m);
    }
    return CR_OK;
}

/* x = m' + B (z1 / sqrt(k') + z2), S = B B^T ~ InverseWishart(nu', L L^T): B = L A^-T with A the
 * Bartlett factor of a Wishart of the identity.  Room [d x d + d]. */
static void draw_row(const cri_niw *m, cr_rng *r, double *workspace, double *x)
{
    size_t  d = m->d;
    double *A = workspace, *z = workspace + d * d;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++) A[i * d + j] = cr_rng_normal(r);
        A[i * d + i] = sqrt(2 * cr_rng_gamma(r, (m->nu - (double)i) / 2));
    }
    for (size_t j = 0; j < d; j++) z[j] = cr_rng_normal(r) / sqrt(m->kappa);
    for (size_t j = 0; j < d; j++) z[j] += cr_rng_normal(r);
    cri_solve_upper(A, d, z); /* A^-T z */
    for (size_t i = 0; i < d; i++) {
        x[i] = m->mean[i];
        for (size_t j = 0; j <= i; j++) x[i] += m->L[i * d + j] * z[j];
    }
}

static cr_status mvn_sample(cr_ctx *cx, const void *state, const cr_design *design,
                            const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_niw *m = state;
    double        *workspace = cr_scratch_bytes(&s, m->d * (m->d + 1), sizeof(double));
    (void)design, (void)opt_rows;
    CR_TRY(s.status);
    for (size_t i = 0; i < count; i++) {
        cr_rng r = cr_rng_stream(seed, i);
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        draw_row(m, &r, workspace, out + i * m->d);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- description ----------------------------------------------------------------------------- */

static cr_status describe_parameter(cr_ctx *cx, const cri_niw *m, const char *column,
                                    const char *what, const cri_named *d, cri_sheet *list)
{
    cri_summary s;
    cr_status   st = cri_summarise(cx, d, m->level, &s);
    if (st == CR_OK) cri_add_summary(list, d, &s, "%s.%s", column, what);
    return st;
}

/* Covariances have a mean and an sd, but no distribution of a name. */
static void describe_covariance(const cri_niw *m, const cr_design *design, size_t i, size_t j,
                                cri_sheet *list)
{
    size_t d = m->d;
    double free = m->nu - (double)d, ij = m->Psi[i * d + j];
    double both = m->Psi[i * d + i] * m->Psi[j * d + j];
    double variance =
        ((free + 1) * ij * ij + (free - 1) * both) / (free * (free - 1) * (free - 1) * (free - 3));
    cri_summary s = { NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    s.mean = free > 1 ? ij / (free - 1) : NAN;
    s.sd = free > 3 ? sqrt(variance) : INFINITY;
    s.mode = ij / (m->nu + (double)d + 1);
    cri_add_summary(list, NULL, &s, "%s,%s.covariance", design->columns[i].name,
                    design->columns[j].name);
}

/* The joint distributions, matrices row by row. */
static cr_status describe_joint(cr_ctx *cx, const cri_niw *m, cri_sheet *list)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cri_sheet *row, *part;
    size_t     d = m->d;
    double    *scale = cr_scratch_f64(&s, d * d);
    CR_TRY(s.status);
    for (size_t i = 0; i < d * d; i++) scale[i] = m->Psi[i] * predictive_share(m);
    row = cri_add_distribution(list, NULL, m->n, m->log_evidence);
    part = cri_put_object(row, "posterior");
    cri_put_text(part, "family", "normal-inverse-wishart");
    cri_put_reals(part, "mean", m->mean, d);
    cri_put_real(part, "strength", m->kappa);
    cri_put_real(part, "df", m->nu);
    cri_put_reals(part, "scale", m->Psi, d * d);
    part = cri_put_object(row, "predictive");
    cri_put_text(part, "family", "mvt");
    cri_put_real(part, "df", predictive_dof(m));
    cri_put_reals(part, "location", m->mean, d);
    cri_put_reals(part, "scale", scale, d * d);
    part = cri_put_object(row, "statistics");
    cri_put_real(part, "n", m->n);
    cri_put_reals(part, "mean", m->xbar, d);
    cri_put_reals(part, "scatter", m->scatter, d * d);
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status mvn_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    cr_status      st = CR_OK;
    const cri_niw *m = state;
    size_t         d = m->d;
    double         dof = predictive_dof(m);
    cri_sheet     *parameters, *distributions;
    cri_named      prior = {
             "normal-inverse-wishart", 2, { "strength", "df" }, { m->prior_kappa, m->prior_nu }
    };
    char text[128];

    cri_add_prior(out, cri_named_text(&prior, text, sizeof text), cri_niw_proper(m), NULL,
                  m->level);
    parameters = cri_put_list(out, "parameters");
    distributions = cri_put_list(out, "distributions");
    for (size_t j = 0; j < d; j++) {
        double    spread = m->Psi[j * d + j];
        cri_named mean = { "student-t",
                           3,
                           { "df", "location", "scale" },
                           { dof, m->mean[j], sqrt(spread / m->kappa / dof) } };
        CR_TRY(describe_parameter(cx, m, design->columns[j].name, "mean", &mean, parameters));
    }
    for (size_t j = 0; j < d; j++) {
        cri_named variance = {
            "inverse-gamma", 2, { "shape", "scale" }, { dof / 2, m->Psi[j * d + j] / 2 }
        };
        CR_TRY(
            describe_parameter(cx, m, design->columns[j].name, "variance", &variance, parameters));
    }
    for (size_t i = 0; d <= MOST_PAIRS_SHOWN && i < d; i++)
        for (size_t j = i + 1; j < d; j++) describe_covariance(m, design, i, j, parameters);
    CR_TRY(describe_joint(cx, m, distributions));
done:
    return st;
}

const cr_model_class cri_class_mvn = {
    .name = "mvn",
    .summary = "mean vector and covariance of numbers, with a normal-inverse-Wishart posterior",
    .formulas = "x | mu, S ~ N(mu, S),  S ~ InverseWishart(nu, Psi),  mu | S ~ N(m, S / k)\n"
                "k' = k + n,  nu' = nu + n,  m' = m + n/k' (xbar - m),\n"
                "Psi' = Psi + sum (x - xbar)(x - xbar)^T + k n/k' (xbar - m)(xbar - m)^T\n"
                "next: multivariate t with nu' - d + 1 degrees of freedom",
    .reference = "Gelman et al. (2013), Bayesian Data Analysis, 3rd ed., sec. 3.6",
    .example = "examples/diabetes.csv --features bmi,bp,s5",
    .tasks = CR_TASK_DENSITY,
    .options = mvn_table,
    .options_size = sizeof(mvn_options),
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .coding = CRI_CODING_CODE,
    .sums = &(const cri_sums_face){ .record = cri_niw_sums_record,
                                    .size = sizeof(cri_niw),
                                    .open = mvn_open,
                                    .gather = cri_niw_gather,
                                    .merge = cri_niw_merge,
                                    .solve = mvn_solve },
    .rows =
        &(const cri_rows_face){ .predict = mvn_predict, .next = mvn_next, .sample = mvn_sample },
    .describe = mvn_describe,
    .statistics = cri_prior_statistics,
    .tables = cri_distribution_tables,
    .state = cri_niw_record,
    .state_size = sizeof(cri_niw),
    .ready = cri_niw_ready,
};

/* scoring_pass.c -- deviance, score and information of blocks of rows. */
#include "scoring_pass.h"
#include "base/scratch.h"
#include "math/dense/blas_internal.h"
#include "math/kernel/array.h"
#include "math/special/special.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { ROWS = 256 }; /* rows at a time: z, scores and weights stay in the second cache */

/* The rows of a block: on the way in eta, on the way out m s(y, eta) and m i(eta). */
typedef struct block {
    const double *y, *m; /* [count]              */
    double       *eta;   /* [count]; overwritten */
    double       *score; /* [count]              */
    double       *information;
    double       *workspace; /* [count] */
    size_t        count;
} block;

/* --- one kind of law each: the deviance of the block ------------------------------------------ */

/* log mu = eta:  m (y - mu), m mu;  2 m (mu - y eta). */
static double weigh_poisson_log(const cri_scoring_pass *w, block b)
{
    double sum = 0;
    (void)w;
    memcpy(b.information, b.eta, b.count * sizeof(double));
    cri_exp_array(b.information, b.count);
    for (size_t i = 0; i < b.count; i++) {
        double mu = b.information[i];
        sum += b.m[i] * (mu - b.y[i] * b.eta[i]);
        b.score[i] = b.m[i] * (b.y[i] - mu);
        b.information[i] = b.m[i] * mu;
    }
    return 2 * sum;
}

/* m (y / mu - 1), m;  2 m (y / mu + eta). */
static double weigh_gamma_log(const cri_scoring_pass *w, block b)
{
    double sum = 0;
    (void)w;
    for (size_t i = 0; i < b.count; i++) b.information[i] = -b.eta[i];
    cri_exp_array(b.information, b.count);
    for (size_t i = 0; i < b.count; i++) {
        double ratio = b.y[i] * b.information[i];
        sum += b.m[i] * (ratio + b.eta[i]);
        b.score[i] = b.m[i] * (ratio - 1);
        b.information[i] = b.m[i];
    }
    return 2 * sum;
}

/* With e = exp(-|eta|) one of mu and 1 - mu is 1 / (1 + e), the other e / (1 + e):
 * m (y - mu), m mu (1 - mu);  -2 m (y log mu + (1 - y) log(1 - mu)). */
static double weigh_binomial_logit(const cri_scoring_pass *w, block b)
{
    double *losses = b.workspace, *e = b.information;
    (void)w;
    for (size_t i = 0; i < b.count; i++) e[i] = -fabs(b.eta[i]);
    cri_exp_array(e, b.count);
    memcpy(losses, e, b.count * sizeof(double));
    cri_log1p_array(losses, b.count);
    for (size_t i = 0; i < b.count; i++) {
        double large = 1 / (1 + e[i]), small = e[i] * large, y = b.y[i], not_y = 1 - y;
        double mu = b.eta[i] > 0 ? large : small, rest = b.eta[i] > 0 ? small : large;
        double against = b.eta[i] > 0 ? not_y : y; /* what speaks against the likelier outcome */
        losses[i] += against * fabs(b.eta[i]);
        b.score[i] = b.m[i] * (y * rest - not_y * mu);
        b.information[i] = b.m[i] * small * large;
    }
    return 2 * cri_dot_array(b.m, losses, b.count);
}

/* Any other law, by its own functions. */
static double weigh_any(const cri_scoring_pass *w, block b)
{
    double sum = 0;
    for (size_t i = 0; i < b.count; i++) {
        double m = b.m[i], y = b.y[i], eta = b.eta[i];
        b.score[i] = b.information[i] = 0;
        if (m == 0) continue;
        if (!cri_family_has_mean(w->law.family, w->law.link, eta)) return NAN;
        sum += m * cri_family_deviance(&w->law, y, eta);
        b.score[i] = m * cri_family_score(&w->law, y, eta);
        b.information[i] = m * (w->observed ? cri_family_curvature(&w->law, y, eta, 1)
                                            : cri_family_information(&w->law, eta));
    }
    return sum;
}

/* 2 log p(y | y) as the kinds leave it out of their deviance. */
static double saturated_poisson(double y) { return 2 * (cr_xlogy(y, y) - y); }
static double saturated_gamma(double y) { return -2 * (1 + log(y)); }
static double saturated_binomial(double y)
{
    return y == 0 || y == 1 ? 0 : 2 * (cr_xlogy(y, y) + cr_xlogy(1 - y, 1 - y));
}

typedef struct kind {
    cri_glm_family family;
    cri_glm_link   link;
    double (*weigh)(const cri_scoring_pass *w, block b);
    double (*saturated)(double y); /* NULL: 0 */
} kind;

static const kind *kind_of(const cri_glm_law *law)
{
    static const kind kinds[] = {
        { CRI_GLM_POISSON, CRI_LINK_LOG, weigh_poisson_log, saturated_poisson },
        { CRI_GLM_GAMMA, CRI_LINK_LOG, weigh_gamma_log, saturated_gamma },
        { CRI_GLM_BINOMIAL, CRI_LINK_LOGIT, weigh_binomial_logit, saturated_binomial },
    };
    static const kind other = { .weigh = weigh_any };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k].family == law->family && kinds[k].link == law->link) return &kinds[k];
    return &other;
}

/* --- blocks of rows --------------------------------------------------------------------------- */

/* Where the observations themselves put eta, and the right-hand side that leads there. */
static void start_block(const cri_scoring_pass *w, size_t begin, double mean, block b)
{
    const cri_glm_problem *p = w->rows->p;
    for (size_t i = 0; i < b.count; i++) {
        size_t row = (begin + i) * w->step;
        double mu = cri_family_start(w->law.family, p->trials[row], b.y[i], mean);
        double eta = cri_link_of_mean(w->law.link, mu);
        b.information[i] = b.m[i] == 0 ? 0 : b.m[i] * cri_family_information(&w->law, eta);
        b.score[i] = b.m[i] == 0 ? 0 : b.m[i] * cri_family_score(&w->law, b.y[i], eta);
        b.score[i] += b.information[i] * (eta - p->offset[row]);
    }
}

typedef struct run {
    const cri_scoring_pass *w;
    const kind             *kind;
    double                  mean; /* of the target, to start from */
} run;

/* eta of the block, y and m beside it. */
static void set_block(const cri_scoring_pass *w, size_t begin, const double *Z, double *y,
                      double *m, block b)
{
    const cri_glm_problem *p = w->rows->p;
    size_t                 q = w->rows->x.q;
    for (size_t i = 0; i < b.count; i++) {
        size_t row = (begin + i) * w->step;
        y[i] = p->y[row];
        m[i] = p->weight[row] * p->trials[row];
        b.eta[i] = p->offset[row];
    }
    if (w->theta)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)b.count, (int)q, 1, Z, (int)q, w->theta, 1, 1,
                    b.eta, 1);
}

/* The places of a row of the information: four, eight ..., which is what matrix kernels are quick
 * with. */
static size_t places_of(const cri_scoring_pass *w) { return (w->rows->x.q + 3) / 4 * 4; }

/* S [count x s] = root of the information times z, filled up with zeros. */
static void scale_rows(const double *Z, block b, size_t q, size_t s, double *S)
{
    for (size_t i = 0; i < b.count; i++, S += s, Z += q) {
        double root = sqrt(b.information[i]);
        for (size_t j = 0; j < q; j++) S[j] = root * Z[j];
        for (size_t j = q; j < s; j++) S[j] = 0;
    }
}

/* acc [1 + q + s^2]: deviance, score, information.  workspace: z, then five numbers and s for each
 * row. */
static void add_rows(const run *r, size_t begin, size_t count, double *acc, double *workspace)
{
    const cri_scoring_pass *w = r->w;
    size_t                  q = w->rows->x.q, s = places_of(w);
    double                 *y = workspace + ROWS * q, *m = y + ROWS, *S = m + 4 * ROWS;
    block                   b = { .y = y, .m = m, .count = count };
    const double *Z = cri_classifier_rows_block(&w->rows->x, begin, count, w->step, workspace);

    b.eta = m + ROWS, b.score = b.eta + ROWS, b.information = b.score + ROWS, b.workspace = S;
    set_block(w, begin, Z, y, m, b);
    if (w->theta)
        acc[0] += r->kind->weigh(w, b);
    else
        start_block(w, begin, r->mean, b);
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)count, (int)q, 1, Z, (int)q, b.score, 1, 1, acc + 1,
                1);
    scale_rows(Z, b, q, s, S);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)s, (int)count, 1, S, (int)s, 1,
                acc + 1 + q, (int)s);
}

static void add_span(void *arg, cri_range range, double *acc, double *workspace)
{
    for (size_t begin = range.begin; begin < range.end; begin += ROWS)
        add_rows(arg, begin, range.end - begin < ROWS ? range.end - begin : ROWS, acc, workspace);
}

static double mean_of_rows(const cri_scoring_pass *w)
{
    const cri_glm_problem *p = w->rows->p;
    double                 sum = 0, weight = 0;
    for (size_t i = 0; i < w->rows->x.n; i += w->step) {
        double m = p->weight[i] * p->trials[i];
        sum += m * p->y[i], weight += m;
    }
    return sum / weight;
}

cr_status cri_scoring_run(cr_ctx *cx, const cri_scoring_pass *w, cri_scoring_sums *out)
{
    enum { SPANS = 32 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     q = w->rows->x.q, n = (w->rows->x.n + w->step - 1) / w->step;
    size_t     places = places_of(w), length = 1 + q + places * places;
    size_t     span = ((n + SPANS - 1) / SPANS + ROWS - 1) / ROWS * ROWS;
    double    *acc = cr_scratch_f64(&s, length);
    run        r = { w, kind_of(&w->law), w->theta ? 0 : mean_of_rows(w) };

    CR_TRY(s.status);
    cri_blas_enter();
    st = cri_parallel_sum_in(cx, NULL, n, span, length, ROWS * (q + places + 5), add_span, &r, acc);
    cri_blas_leave();
    CR_TRY(st);
    out->deviance = acc[0];
    memcpy(out->score, acc + 1, q * sizeof(double));
    for (size_t i = 0; i < q; i++)
        memcpy(out->information + i * q, acc + 1 + q + i * places, q * sizeof(double));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the saturated model ---------------------------------------------------------------------- */

static void add_saturated(void *arg, cri_range range, double *acc)
{
    const run             *r = arg;
    const cri_glm_problem *p = r->w->rows->p;
    for (size_t k = range.begin; k < range.end; k++) {
        size_t i = k * r->w->step;
        if (p->weight[i] > 0) acc[0] += p->weight[i] * p->trials[i] * r->kind->saturated(p->y[i]);
    }
}

cr_status cri_scoring_saturated(cr_ctx *cx, const cri_scoring_pass *w, double *out)
{
    run    r = { .w = w, .kind = kind_of(&w->law) };
    size_t n = (w->rows->x.n + w->step - 1) / w->step;
    *out = 0;
    if (!r.kind->saturated) return CR_OK;
    return cri_parallel_sum(cx, NULL, n, ROWS, 1, add_saturated, &r, out);
}

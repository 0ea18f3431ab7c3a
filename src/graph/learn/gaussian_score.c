/* gaussian_score.c -- the last pivot of a Cholesky factor is what a child has of its own. */
#include "gaussian_score.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

static const double TIED = 1e-10; /* no larger share of a variance is left: it is determined */

typedef struct gaussian_score {
    cri_gaussian_cases      cases;
    cri_gaussian_score_kind kind;
    double                  prior_rows, wishart, t; /* alpha_m, alpha_w, t of bge */
} gaussian_score;

/* L [m x m] of the covariance of these variables, times `by`, with `add` on its diagonal.  Where that is 0, returns the
 * first variable that the others before it determine; m where there is none. */
static size_t factor(const cri_gaussian_cases *c, const uint32_t *who, size_t m, double by,
                     double add, double *L)
{
    for (size_t i = 0; i < m; i++) {
        const double *row = c->S + who[i] * c->p;
        for (size_t j = 0; j <= i; j++) {
            double sum = by * row[who[j]] + (i == j ? add : 0), all = sum;
            for (size_t l = 0; l < j; l++) sum -= L[i * m + l] * L[j * m + l];
            if (i != j) {
                L[i * m + j] = sum / L[j * m + j];
                continue;
            }
            if (add > 0)
                sum = fmax(sum, add); /* as it is, but for rounding */
            else if (!(sum > TIED * all))
                return i;
            L[i * m + i] = sqrt(sum);
        }
    }
    return m;
}

static double residual(const cri_gaussian_cases *c, size_t child, const uint32_t *parents, size_t n,
                       double *L)
{
    const double *row = c->S + child * c->p;
    double        left = row[child];
    if (factor(c, parents, n, 1, 0, L) < n) return NAN;
    double *l = L + n * n; /* the child's row */
    for (size_t j = 0; j < n; j++) {
        double sum = row[parents[j]];
        for (size_t k = 0; k < j; k++) sum -= l[k] * L[j * n + k];
        l[j] = sum / L[j * n + j];
        left -= l[j] * l[j];
    }
    return fmax(left / row[child], 0);
}

double cri_gaussian_regress(const cri_gaussian_cases *c, size_t child, const uint32_t *parents,
                            size_t n, double *opt_weight, double *opt_inverse, double *workspace)
{
    double  share = residual(c, child, parents, n, workspace);
    double *L = workspace, *l = workspace + n * n;
    if (isnan(share)) return share;
    for (size_t i = n; opt_weight && i-- > 0;) { /* L^T w = l */
        opt_weight[i] = l[i];
        for (size_t k = i + 1; k < n; k++) opt_weight[i] -= L[k * n + i] * opt_weight[k];
        opt_weight[i] /= L[i * n + i];
    }
    for (size_t column = 0; opt_inverse && column < n; column++) {
        double *x = l; /* done with */
        for (size_t i = 0; i < n; i++) {
            x[i] = i == column;
            for (size_t k = column; k < i; k++) x[i] -= L[i * n + k] * x[k];
            x[i] = i < column ? 0 : x[i] / L[i * n + i];
        }
        for (size_t i = n; i-- > 0;) {
            for (size_t k = i + 1; k < n; k++) x[i] -= L[k * n + i] * x[k];
            x[i] /= L[i * n + i];
            opt_inverse[i * n + column] = x[i];
        }
    }
    return share;
}

static double likelihood(const gaussian_score *g, size_t child, const uint32_t *parents, size_t n,
                         double *L)
{
    const cri_gaussian_cases *c = &g->cases;
    double                    free = (double)n + 2, variance;
    if (free >= c->n) return -INFINITY;
    double share = residual(c, child, parents, n, L);
    if (isnan(share)) return -INFINITY;
    variance = fmax(share, TIED) * c->S[child * (c->p + 1)] * c->scale[child] * c->scale[child];
    double log_likelihood = -0.5 * c->n * (1 + log(2 * M_PI * variance));
    return log_likelihood - (g->kind == CRI_GAUSSIAN_AIC   ? free
                             : g->kind == CRI_GAUSSIAN_BIC ? free * log(c->n) / 2
                                                           : 0);
}

/* log p of the rows of these variables, the precision of all having been summed out: Kuipers and others (2014), (A.7). */
static double log_marginal(const gaussian_score *g, const uint32_t *who, size_t l, double *L)
{
    const cri_gaussian_cases *c = &g->cases;
    double n = c->n, size = (double)l, degrees = g->wishart - (double)c->p + size, sum;
    if (l == 0) return 0;
    factor(c, who, l, n, g->t, L); /* R = T + n S: the prior mean is that of the rows */
    sum = -0.5 * size * n * log(M_PI) + 0.5 * size * log(g->prior_rows / (n + g->prior_rows)) +
          0.5 * degrees * size * log(g->t);
    for (size_t i = 0; i < l; i++) {
        sum += cr_lgamma_diff((degrees - (double)i) / 2, n / 2);
        sum -= (degrees + n) * log(L[i * l + i]);
    }
    return sum;
}

static double evidence(const gaussian_score *g, size_t child, const uint32_t *parents, size_t n,
                       double *L, uint32_t *who)
{
    memcpy(who, parents, n * sizeof *who);
    who[n] = (uint32_t)child;
    return log_marginal(g, who, n + 1, L) - log_marginal(g, parents, n, L);
}

typedef struct workspace {
    double   *L;
    uint32_t *who;
} workspace;

static double score(const void *own, size_t child, const uint32_t *parents, size_t n, void *work)
{
    const gaussian_score *g = own;
    workspace            *w = work;
    return g->kind == CRI_GAUSSIAN_BGE ? evidence(g, child, parents, n, w->L, w->who)
                                       : likelihood(g, child, parents, n, w->L);
}

/* For as many parents as a search may ever try. */
static cr_status open_work(cr_scratch *s, const void *own, void **out)
{
    const gaussian_score *g = own;
    size_t                most = g->cases.p;
    workspace            *w = cr_scratch_bytes(s, 1, sizeof *w);
    if (!w) return s->status;
    w->L = cr_scratch_f64(s, (most + 1) * (most + 1));
    w->who = cr_scratch_bytes(s, most + 1, sizeof *w->who);
    *out = w;
    return s->status;
}

cr_status cri_gaussian_score(cr_scratch *s, const cri_gaussian_cases *cases,
                             cri_gaussian_score_kind kind, double rows, cri_score_source *out)
{
    gaussian_score *g = cr_scratch_bytes(s, 1, sizeof *g);
    if (!g) return s->status;
    double p = (double)cases->p;
    *g = (gaussian_score){ *cases, kind, rows, p + rows + 1, 0 };
    g->t = rows * (g->wishart - p - 1) / (rows + 1);
    *out = (cri_score_source){ cases->p, true, g, score, open_work };
    return CR_OK;
}

/* gaussian.c -- the moment form: objects, density, entropy, divergence, draws. */
#include "gaussian_internal.h"
#include "base/checked.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

/* --- objects --------------------------------------------------------------------------------- */

/* An object of either form and its arrays are one block of doubles: HEAD, a vector [d], a matrix. */
enum { HEAD = (sizeof(cr_gaussian) + sizeof(double) - 1) / sizeof(double) };
_Static_assert(sizeof(cr_canonical) == sizeof(cr_gaussian), "the forms have the same members");

static double *alloc_block(cr_ctx *cx, size_t d)
{
    size_t square = 0, size = 0;
    if (cri_mul(d, d, &square) && cri_add(square, HEAD + d, &size))
        return cr_alloc(cx, size, sizeof(double));
    cr_fail(cx, CR_ENOMEM, "gaussian: %zu variables are too many", d);
    return NULL;
}

static void free_block(cr_ctx *cx, void *block, size_t d)
{
    cr_free(cx, block, HEAD + d + d * d, sizeof(double));
}

cr_status cri_gaussian_alloc(cr_ctx *cx, size_t d, cr_gaussian **out)
{
    double *block = alloc_block(cx, d);
    if (!block) return CR_ENOMEM;
    *out = (cr_gaussian *)block;
    **out = (cr_gaussian){ d, block + HEAD, block + HEAD + d };
    return CR_OK;
}

cr_status cri_canonical_alloc(cr_ctx *cx, size_t d, cr_canonical **out)
{
    double *block = alloc_block(cx, d);
    if (!block) return CR_ENOMEM;
    *out = (cr_canonical *)block;
    **out = (cr_canonical){ d, block + HEAD, block + HEAD + d };
    return CR_OK;
}

void cr_gaussian_free(cr_ctx *cx, cr_gaussian *g)
{
    if (g) free_block(cx, g, g->d);
}

void cr_canonical_free(cr_ctx *cx, cr_canonical *c)
{
    if (c) free_block(cx, c, c->d);
}

cr_status cr_gaussian_new(cr_ctx *cx, const double *mean, cr_cmat covariance, cr_gaussian **out)
{
    cr_status    st = CR_OK;
    size_t       d = covariance.rows;
    cr_gaussian *g = NULL;
    CR_TRY(cri_gaussian_alloc(cx, d, &g));
    CR_TRY(cri_check_finite(cx, "mean", mean, d));
    CR_TRY(cri_copy_symmetric(cx, "covariance", covariance, d, g->covariance));
    CR_TRY(cri_check_semidefinite(cx, "covariance", g->covariance, d));
    if (d > 0) memcpy(g->mean, mean, d * sizeof *mean);
    *out = g;
    g = NULL;
done:
    cr_gaussian_free(cx, g);
    return st;
}

cr_status cr_gaussian_to_canonical(cr_ctx *cx, const cr_gaussian *g, cr_canonical **out)
{
    cr_status     st = CR_OK;
    size_t        d = g->d;
    cr_scratch    s = cr_scratch_begin(cx);
    double       *L = cr_scratch_matrix(&s, d, d);
    cr_canonical *c = NULL;
    CR_TRY(s.status);
    CR_TRY(cri_canonical_alloc(cx, d, &c));
    CR_TRY(cri_gaussian_factor(cx, "covariance", g->covariance, d, NULL, L));
    if (d > 0) memcpy(c->h, g->mean, d * sizeof *c->h);
    CR_TRY(cr_chol_solve(cx, cri_square(L, d), cr_mat_of(c->h, d, 1)));
    CR_TRY(cr_chol_inverse(cx, cri_square(L, d), cr_mat_of(c->precision, d, d)));
    *out = c;
    c = NULL;
done:
    cr_canonical_free(cx, c);
    cr_scratch_end(&s);
    return st;
}

/* --- density --------------------------------------------------------------------------------- */

enum { POINTS = 128 }; /* solved at a time, as columns of one matrix */

/* Z [d x n] = the points x [n x d] less the mean, one in each column. */
static void offsets(const double *x, size_t n, const double *mean, size_t d, double *Z)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) Z[j * n + i] = x[i * d + j] - mean[j];
}

cr_status cr_gaussian_logpdf(cr_ctx *cx, const cr_gaussian *g, const double *x, size_t count,
                             double *out)
{
    cr_status  st = CR_OK;
    size_t     d = g->d;
    cr_scratch s = cr_scratch_begin(cx);
    double    *L = cr_scratch_matrix(&s, d, d), *Z = cr_scratch_matrix(&s, d, POINTS);
    double    *answer = cr_scratch_f64(&s, count);
    CR_TRY(s.status);
    CR_TRY(cri_check_finite(cx, "points", x, count * d));
    CR_TRY(cri_gaussian_factor(cx, "covariance", g->covariance, d, NULL, L));
    double log_normaliser = 0.5 * ((double)d * CRI_LOG_2PI + cr_chol_logdet(cri_square(L, d)));
    for (size_t first = 0; first < count; first += POINTS) {
        size_t n = count - first < POINTS ? count - first : POINTS;
        offsets(x + first * d, n, g->mean, d, Z);
        CR_TRY(cr_chol_forward(cx, cri_square(L, d), cr_mat_of(Z, d, n)));
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t j = 0; j < d; j++) sum += Z[j * n + i] * Z[j * n + i];
            answer[first + i] = -log_normaliser - 0.5 * sum;
        }
    }
    if (count > 0) memcpy(out, answer, count * sizeof *out);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_gaussian_log_normaliser(cr_ctx *cx, const cr_gaussian *g, double *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *L = cr_scratch_matrix(&s, g->d, g->d);
    CR_TRY(s.status);
    CR_TRY(cri_gaussian_factor(cx, "covariance", g->covariance, g->d, NULL, L));
    *out = 0.5 * ((double)g->d * CRI_LOG_2PI + cr_chol_logdet(cri_square(L, g->d)));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_gaussian_entropy(cr_ctx *cx, const cr_gaussian *g, double *out)
{
    double    log_normaliser = 0;
    cr_status st = cr_gaussian_log_normaliser(cx, g, &log_normaliser);
    if (st == CR_OK) *out = log_normaliser + 0.5 * (double)g->d;
    return st;
}

/* Half of |Lq^-1 Lp|^2 + |Lq^-1 (mp - mq)|^2 - d + log det Sq / det Sp. */
cr_status cr_gaussian_kl(cr_ctx *cx, const cr_gaussian *p, const cr_gaussian *q, double *out)
{
    cr_status  st = CR_OK;
    size_t     d = p->d;
    cr_scratch s = cr_scratch_begin(cx);
    double    *Lp = cr_scratch_matrix(&s, d, d), *Lq = cr_scratch_matrix(&s, d, d);
    double    *z = cr_scratch_f64(&s, d), away = 0;
    CR_TRY(s.status);
    CR_TRY(cri_check_same_size(cx, p->d, q->d));
    CR_TRY(cri_gaussian_factor(cx, "covariance of p", p->covariance, d, NULL, Lp));
    CR_TRY(cri_gaussian_factor(cx, "covariance of q", q->covariance, d, NULL, Lq));
    double log_ratio = cr_chol_logdet(cri_square(Lq, d)) - cr_chol_logdet(cri_square(Lp, d));
    for (size_t i = 0; i < d; i++) z[i] = p->mean[i] - q->mean[i];
    CR_TRY(cri_whitened_square(cx, Lq, d, z, &away));
    CR_TRY(cr_chol_forward(cx, cri_square(Lq, d), cr_mat_of(Lp, d, d)));
    *out = fmax(0, 0.5 * (cr_dot(Lp, Lp, d * d) - (double)d + away + log_ratio));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- draws ----------------------------------------------------------------------------------- */

/* F [d x d], *out_rank columns of it, with F F' = S: triangular, or with pivoting when S is
 * singular. */
static cr_status any_factor(cr_ctx *cx, const cr_gaussian *g, double *W, double *F,
                            size_t *out_rank)
{
    cr_status st = cri_gaussian_factor(cx, "covariance", g->covariance, g->d, NULL, F);
    *out_rank = g->d;
    if (st != CR_ENUMERIC) return st;
    size_t bad = cri_semidefinite_factor(g->covariance, g->d, W, F, out_rank);
    return bad == g->d ? CR_OK : st; /* a covariance that was changed after it was made */
}

cr_status cr_gaussian_sample(cr_ctx *cx, const cr_gaussian *g, cr_rng *rng, size_t count,
                             double *out)
{
    cr_status  st = CR_OK;
    size_t     d = g->d, rank = 0;
    cr_scratch s = cr_scratch_begin(cx);
    double    *W = cr_scratch_matrix(&s, d, d), *F = cr_scratch_matrix(&s, d, d);
    double    *z = cr_scratch_f64(&s, d);
    CR_TRY(s.status);
    CR_TRY(any_factor(cx, g, W, F, &rank));
    for (size_t i = 0; i < count; i++) {
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(cx));
        for (size_t j = 0; j < rank; j++) z[j] = cr_rng_normal(rng);
        for (size_t j = 0; j < d; j++) out[i * d + j] = g->mean[j] + cr_dot(F + j * d, z, rank);
    }
done:
    cr_scratch_end(&s);
    return st;
}

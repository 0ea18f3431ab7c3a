/* gmm_gibbs.c -- one sweep of Gibbs sampling for a mixture, and answers averaged over draws.
 *   component of a row ~ p(c | row, parameters);  missing cells ~ p(cells | what is observed, c)
 *   shares ~ Dirichlet(alpha + n_c),   S_c ~ InverseWishart(nu + n_c, Psi_c),   mu_c ~ N(m_c, S_c / (kappa + n_c))
 * with m_c and Psi_c as in the M-step (gmm_step.c), and the prior of variational Bayes: nu, kappa and Psi are prior_rows,
 * prior_kappa and prior_scale.  With diagonal covariances each variance has an inverse gamma distribution, the marginal of
 * that prior.  The statistics are those of EM with the drawn components in the place of responsibilities, so that a sweep is a
 * pass over the rows: O(n k d^2).  Row i has the random numbers of stream i of the sweep.  A row of weight w is w rows.
 * Diebolt & Robert (1994), J. Royal Stat. Soc. B 56; Fruehwirth-Schnatter (2006), Finite Mixture and Markov Switching
 * Models, sec. 3.5 and 6.3. */
#include "gmm_gibbs.h"
#include "base/scratch.h"
#include "math/special/special.h"
#include "prob/dist/small_matrix.h"
#include "prob/dist/wishart.h"

#include <math.h>
#include <string.h>

/* --- components of the rows ------------------------------------------------------------------- */

/* Workspace: t [BLOCK x d], r [BLOCK x k], log densities [BLOCK], z [d], sum of the missing parts [d], their columns Y
 * and products, each [d x d], a Bartlett factor [d x d], normals [d], and that of the steps. */
typedef struct workspace {
    double *T, *r, *log_density, *z, *sum, *Y, *products, *A, *normal, *steps;
} workspace;

size_t cri_gmm_sweep_work(const cri_gmm *m)
{
    return (size_t)CRI_GMM_BLOCK * (m->d + m->k + 1) + 3 * m->d + 3 * m->d * m->d + cri_gmm_work(m);
}

static workspace cut(const cri_gmm *m, double *work)
{
    size_t    B = CRI_GMM_BLOCK, d = m->d;
    workspace b = { .T = work };
    b.r = b.T + B * d;
    b.log_density = b.r + B * m->k;
    b.z = b.log_density + B;
    b.sum = b.z + d;
    b.normal = b.sum + d;
    b.Y = b.normal + d;
    b.products = b.Y + d * d;
    b.A = b.products + d * d;
    b.steps = b.A + d * d;
    return b;
}

/* Adds n rows, the sum of whose z is first [d] and of z z^T second [d x d], to the statistics of a component. */
static void add_part(const cri_gmm *m, double n, const double *first, const double *second,
                     double *part)
{
    size_t d = m->d;
    part[0] += n;
    for (size_t i = 0; i < d; i++) {
        part[1 + i] += first[i];
        if (m->width == 1) part[1 + d + i] += second[i * (d + 1)];
        for (size_t j = 0; m->width > 1 && j <= i; j++)
            part[1 + d + i * d + j] += second[i * d + j];
    }
}

/* The same of n rows that are alike: z. */
static void add_alike(const cri_gmm *m, double n, const double *z, double *part)
{
    size_t d = m->d;
    part[0] += n;
    for (size_t i = 0; i < d; i++) {
        part[1 + i] += n * z[i];
        if (m->width == 1) part[1 + d + i] += n * z[i] * z[i];
        for (size_t j = 0; m->width > 1 && j <= i; j++) part[1 + d + i * d + j] += n * z[i] * z[j];
    }
}

/* Sums over n draws of e ~ N(0, I_q): b->normal [q], and in the lower triangle of b->A [q x q] that of e e^T; by Wishart's
 * distribution where there are more than q. */
static void draw_normals(uint64_t n, size_t q, cr_rng *r, const workspace *b)
{
    double *first = b->normal, *A = b->A, *B = b->products;
    memset(A, 0, q * q * sizeof *A);
    if (n > q) {
        double count = (double)n;
        cri_draw_bartlett(r, count - 1, q, B);
        for (size_t i = 0; i < q; i++) first[i] = sqrt(count) * cr_rng_normal(r);
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j <= i; j++) {
                A[i * q + j] = first[i] * first[j] / count;
                for (size_t l = 0; l <= j; l++) A[i * q + j] += B[i * q + l] * B[j * q + l];
            }
        return;
    }
    memset(first, 0, q * sizeof *first);
    for (uint64_t copy = 0; copy < n; copy++) {
        for (size_t i = 0; i < q; i++) first[i] += B[i] = cr_rng_normal(r);
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j <= i; j++) A[i * q + j] += B[i] * B[j];
    }
}

/* Adds n rows of component c that miss cells, which are drawn: z = E z + Y e. */
static void add_missing(const cri_gmm *m, size_t c, uint64_t n, const double *t,
                        const cri_gmm_seen *seen, cr_rng *r, const workspace *b, double *part)
{
    size_t        d = m->d, q = seen->missing;
    const double *z = seen->z + c * d, *Y = seen->Y + c * d * d;
    if (m->width == 1) { /* the columns of Y are those of the cells */
        size_t l = 0;
        memset(b->Y, 0, q * d * sizeof(double));
        for (size_t j = 0; j < d; j++)
            if (isnan(t[j])) b->Y[l++ * d + j] = 1;
        Y = b->Y;
    }
    draw_normals(n, q, r, b);
    for (size_t i = 0; i < d; i++) {
        b->sum[i] = 0;
        for (size_t l = 0; l < q; l++) b->sum[i] += Y[l * d + i] * b->normal[l];
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = (double)n * z[i] * z[j] + z[i] * b->sum[j] + b->sum[i] * z[j];
            for (size_t l = 0; l < q; l++)
                for (size_t p = 0; p < q; p++)
                    sum += Y[l * d + i] * b->A[l > p ? l * q + p : p * q + l] * Y[p * d + j];
            b->products[i * d + j] = sum;
        }
    for (size_t i = 0; i < d; i++) b->sum[i] += (double)n * z[i];
    add_part(m, (double)n, b->sum, b->products, part);
}

/* Draws the components of a row that counts `copies`, and adds them. */
static void add_row(const cri_gmm *m, const double *t, const double *p, uint64_t copies, cr_rng *r,
                    const workspace *b, double *sums)
{
    size_t       d = m->d, part = 1 + d + d * m->width, missing = 0;
    cri_gmm_seen seen = { 0 };
    for (size_t j = 0; j < d; j++) missing += isnan(t[j]) ? 1 : 0;
    if (missing > 0) cri_gmm_see_missing(m, t, &seen, b->steps);
    double left = 1;
    for (size_t c = 0; c < m->k && copies > 0; c++) { /* one component after another */
        bool     last = c + 1 == m->k || !(p[c] < left);
        uint64_t n = last ? copies : cr_rng_binomial(r, copies, p[c] / left);
        left -= p[c], copies -= n;
        if (n == 0) continue;
        if (missing > 0) {
            add_missing(m, c, n, t, &seen, r, b, sums + 2 + c * part);
            continue;
        }
        cri_gmm_whiten(m, c, t, b->z);
        add_alike(m, (double)n, b->z, sums + 2 + c * part);
    }
}

void cri_gmm_sweep_rows(const cri_gmm *m, uint64_t seed, uint64_t first, double *X, const double *w,
                        size_t n, double *sums, double *work)
{
    workspace b = cut(m, work);
    for (size_t at = 0; at < n; at += CRI_GMM_BLOCK) {
        size_t  rows = n - at < CRI_GMM_BLOCK ? n - at : CRI_GMM_BLOCK;
        double *T = X + at * m->d;
        cri_gmm_respond(m, T, rows, b.r, b.log_density, b.steps); /* X becomes t */
        for (size_t i = 0; i < rows; i++) {
            const double *t = T + i * m->d;
            double        weight = w ? w[at + i] : 1;
            cr_rng        r = cr_rng_stream(seed, first + at + i);
            size_t        seen = 0;
            for (size_t j = 0; j < m->d; j++) seen += isnan(t[j]) ? 0 : 1;
            if (!(weight > 0) || seen == 0) continue; /* says nothing */
            sums[0] += weight * b.log_density[i];
            add_row(m, t, b.r + i * m->k, (uint64_t)weight, &r, &b, sums);
        }
    }
}

/* --- parameters ------------------------------------------------------------------------------- */

static void draw_shares(const cri_gmm *m, const double *sums, cr_rng *r, double *share)
{
    size_t part = 1 + m->d + m->d * m->width;
    for (size_t c = 0; c < m->k; c++) share[c] = cr_rng_log_gamma(r, m->alpha + sums[2 + c * part]);
    cr_softmax(share, m->k, share);
}

cr_status cri_gmm_draw_parameters(cr_ctx *cx, const double *sums, cr_rng *r, cri_gmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     d = m->d, size = d * m->width, part = 1 + d + size;
    double    *W = cr_scratch_matrix(&s, d, d), *P = cr_scratch_matrix(&s, d, d);
    double    *C = cr_scratch_matrix(&s, m->k, size), *spare = cr_scratch_f64(&s, d * d + d);
    double    *mean = cr_scratch_matrix(&s, m->k, d), N = 0;

    CR_TRY(s.status);
    m->lost = false;
    for (size_t c = 0; c < m->k && !m->lost; c++) {
        cri_gmm_posterior(m, c, sums + 2 + c * part, mean + c * d, W, &N, spare);
        for (size_t j = 0; m->width == 1 && j < d; j++)
            C[c * size + j] = 0.5 * W[j] / cr_rng_gamma(r, 0.5 * N);
        if (m->width == 1) continue;
        for (size_t i = 0; i < d * d; i++) W[i] = W[i / d > i % d ? i : i % d * d + i / d];
        m->lost = !cri_factor_point(W, d, P);
        if (!m->lost) cri_inverse_wishart_sample(N, P, d, r, C + c * size, spare);
    }
    m->lost = m->lost || !cri_gmm_set_covariances(m, C);
    if (m->lost)
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "gmm: a covariance that was drawn has no inverse"));
    for (size_t c = 0; c < m->k; c++) {
        const double *L = m->L + c * size;
        double        beta = m->prior_kappa + sums[2 + c * part];
        for (size_t j = 0; j < d; j++) spare[j] = cr_rng_normal(r) / sqrt(beta);
        for (size_t i = 0; i < d; i++) {
            double x = mean[c * d + i] + (m->width == 1 ? L[i] * spare[i] : 0);
            for (size_t j = 0; m->width > 1 && j <= i; j++) x += L[i * d + j] * spare[j];
            m->mean[c * d + i] = x;
        }
    }
    draw_shares(m, sums, r, m->share);
    cri_gmm_prepare(m);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- answers ---------------------------------------------------------------------------------- */

size_t        cri_gmm_draw_size(const cri_gmm *m) { return m->k + m->kd + m->kd * m->width; }
static size_t made_size(const cri_gmm *m) { return m->k + m->kd + m->kd * m->width; }

cri_gmm cri_gmm_drawn(const cri_gmm *m, size_t draw)
{
    cri_gmm of = *m;
    of.share = m->sampled.draws + draw * m->sampled.size;
    of.mean = of.share + m->k;
    of.L = of.mean + m->kd;
    of.constant = m->made + draw * made_size(m);
    of.b = of.constant + m->k;
    of.U = of.b + m->kd;
    return of;
}

cr_status cri_gmm_ready_draws(cr_ctx *cx, cri_gmm *m)
{
    m->made = cr_alloc(cx, m->sampled.kept * made_size(m), sizeof *m->made);
    if (!m->made) return CR_ENOMEM;
    for (size_t i = 0; i < m->sampled.kept; i++) {
        cri_gmm of = cri_gmm_drawn(m, i);
        cri_gmm_prepare(&of);
    }
    return CR_OK;
}

void cri_gmm_release_draws(cr_ctx *cx, cri_gmm *m)
{
    cr_free(cx, m->made, m->sampled.kept * made_size(m), sizeof *m->made);
    m->made = NULL;
}

/* p(x, c) is the mean over the draws: out = p(c | x), log density = log p(x). */
void cri_gmm_average(const cri_gmm *m, const double *X, size_t n, double *out, double *log_density,
                     double *work)
{
    size_t  k = m->k;
    double *copy = work, *r = copy + CRI_GMM_BLOCK * m->d, *density = r + CRI_GMM_BLOCK * k;
    double *steps = density + CRI_GMM_BLOCK;
    memset(out, 0, n * k * sizeof *out);
    for (size_t i = 0; i < n; i++) log_density[i] = -INFINITY; /* the greatest so far */
    for (size_t draw = 0; draw < m->sampled.kept; draw++) {
        cri_gmm of = cri_gmm_drawn(m, draw);
        memcpy(copy, X, n * m->d * sizeof *copy);
        cri_gmm_respond(&of, copy, n, r, density, steps);
        for (size_t i = 0; i < n; i++) {
            double top = fmax(log_density[i], density[i]);
            double old = exp(log_density[i] - top), new = exp(density[i] - top);
            if (!(top > -INFINITY)) old = 1, new = 1; /* beyond all numbers */
            for (size_t c = 0; c < k; c++)
                out[i * k + c] = old * out[i * k + c] + new *r[i * k + c];
            log_density[i] = top;
        }
    }
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t c = 0; c < k; c++) sum += out[i * k + c];
        for (size_t c = 0; c < k; c++) out[i * k + c] /= sum;
        log_density[i] += log(sum / (double)m->sampled.kept);
    }
}

size_t cri_gmm_average_work(const cri_gmm *m)
{
    return (size_t)CRI_GMM_BLOCK * (m->d + m->k + 1) + cri_gmm_work(m);
}

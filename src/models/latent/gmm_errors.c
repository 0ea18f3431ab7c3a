/* gmm_errors.c -- standard errors of a mixture, from the curvature of what was maximised.
 * Parameters phi move the state about itself: logits of the shares, means mu_c + L_c a_c, covariances L_c (I + B_c) L_c^T
 * with B_c = sum_p phi_p J_cp (gmm_directions.c).  With r_c = p(c | row) and s_c the score of a row of component c,
 *   (1 at the logit of c, z_c for a_c, (z_c z_c^T - I) / 2 for B_c),     z_c = L_c^-1 (t - mu_c),
 * the information of the rows is that of rows whose components are known, less what is missing of these (Louis 1982):
 *   F = sum_i sum_c r_c (-d^2 log N_c) + n (diag(share) - share share^T) - sum_i [sum_c r_c s_c s_c^T - s s^T],
 *   s = sum_c r_c s_c,
 * and the prior adds its own.  The last sum is over rows whose component is in doubt.  Of a row with missing cells,
 * Pi_c = I - Y Y^T (gmm_missing.c) projects: z_c is in its range, the score of B_c is (z_c z_c^T - Pi_c) / 2, and
 *   -d^2 log N_c [E, F] = tr(E Pi F z z^T) - tr(Pi E Pi F) / 2.
 * F is exactly minus the matrix of second derivatives where covariances of the form are a linear space; for the other forms the
 * second derivatives of log N_c are replaced by their expectation, so that the curvature of the form does not matter.
 * A pass and, for every row in doubt, P^2 operations for P parameters.  Louis (1982), J. Royal Stat. Soc. B 44;
 * McLachlan & Peel (2000), Finite Mixture Models, sec. 2.15. */
#include "gmm_directions.h"
#include "math/dense/blas_internal.h"
#include "prob/dist/small_matrix.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { MOST_PARAMETERS = 300 };   /* their square is summed by each thread */
static const double DOUBT = 1e-6; /* rows whose component is surer have none */

typedef struct curvature {
    const cri_gmm     *m;
    cri_gmm_directions at;
    size_t  q, P, means, covariances; /* of one component: 1 + d + size; all; where they begin */
    size_t  statistics;               /* of EM, which come first among the sums */
    size_t *place;                    /* [size x 2] row and column of each number of B */
    bool    exact;
} curvature;

/* Sums: the statistics of EM of complete rows; C [k][q x q], what belongs to one component; E [P x P], sum s s^T.  Of
 * symmetric matrices the lower triangles. */
static size_t sums_size(const curvature *a)
{
    return a->statistics + a->m->k * a->q * a->q + a->P * a->P;
}

/* Row and column of number i of B. */
static void place(const curvature *a, size_t i, size_t *row, size_t *column)
{
    *row = a->place[2 * i], *column = a->place[2 * i + 1];
}

static void set_places(const cri_gmm *m, size_t size, size_t *place)
{
    for (size_t i = 0, row = 0, column = 0; i < size; i++) {
        place[2 * i] = m->width == 1 ? i : row, place[2 * i + 1] = m->width == 1 ? i : column;
        if (++column > row) row++, column = 0;
    }
}

/* --- second derivatives of log N_c ------------------------------------------------------------ */

/* Adds to C [q x q] those of rows that count `n` (for log|S_c|) and `n_mean`, sum z = first [d], sum z z^T = M [d x d]. */
static void add_second(const curvature *a, double n, double n_mean, const double *Pi,
                       const double *first, const double *M, double *C)
{
    size_t d = a->m->d, q = a->q;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) C[(1 + i) * q + 1 + j] += n_mean * Pi[i * d + j];
    for (size_t x = 0; x < a->at.size; x++) {
        double *row = C + (1 + d + x) * q;
        size_t  e[2], f[2]; /* E = e0 e1^T, and e1 e0^T where these differ */
        place(a, x, &e[0], &e[1]);
        for (size_t l = 0; l < d; l++) {
            row[1 + l] += Pi[l * d + e[0]] * first[e[1]];
            if (e[0] != e[1]) row[1 + l] += Pi[l * d + e[1]] * first[e[0]];
        }
        for (size_t y = 0; y <= x; y++) {
            place(a, y, &f[0], &f[1]);
            for (size_t turn = 0; turn < 4; turn++) {
                size_t p = e[turn & 1], o = e[1 - (turn & 1)], v = f[turn >> 1],
                       w = f[1 - (turn >> 1)];
                if (((turn & 1) && p == o) || ((turn >> 1) && v == w)) continue;
                double inner = Pi[o * d + v], outer = Pi[w * d + p];
                row[1 + d + y] +=
                    0.5 * (inner * M[w * d + p] + outer * M[o * d + v] - n * inner * outer);
            }
        }
    }
}

/* The same with their expectation in the place of first and M, where that is asked for; tmp [d^2 + d]. */
static void add_rows(const curvature *a, double n, double n_mean, const double *Pi,
                     const double *first, const double *M, double *tmp, double *C)
{
    size_t d = a->m->d;
    if (!a->exact) {
        for (size_t i = 0; i < d * d; i++) tmp[i] = n * Pi[i];
        memset(tmp + d * d, 0, d * sizeof *tmp);
        M = tmp, first = tmp + d * d;
    }
    add_second(a, n, n_mean, Pi, first, M, C);
}

/* --- rows in doubt ---------------------------------------------------------------------------- */

/* Workspace: t [BLOCK x d], weights [BLOCK], r [BLOCK x k], log densities [BLOCK], scores of the components [k][BLOCK x q],
 * s [BLOCK x P], Pi [d x d], M [d x d], z [d], tmp [d^2 + d], and that of the steps. */
typedef struct workspace {
    double *T, *w, *r, *log_density, *G, *s, *Pi, *M, *z, *tmp, *steps;
} workspace;

static size_t work_size(const curvature *a)
{
    size_t d = a->m->d, k = a->m->k;
    return (size_t)CRI_GMM_BLOCK * (d + 2 + k + k * a->q + a->P) + 3 * d * d + 2 * d +
           cri_gmm_work(a->m);
}

static workspace cut(const curvature *a, double *work)
{
    size_t    B = CRI_GMM_BLOCK, d = a->m->d, k = a->m->k;
    workspace b = { .T = work };
    b.w = b.T + B * d;
    b.r = b.w + B;
    b.log_density = b.r + B * k;
    b.G = b.log_density + B;
    b.s = b.G + B * k * a->q;
    b.Pi = b.s + B * a->P;
    b.M = b.Pi + d * d;
    b.z = b.M + d * d;
    b.tmp = b.z + d;
    b.steps = b.tmp + d * d + d;
    return b;
}

static void set_identity(size_t d, double *Pi)
{
    memset(Pi, 0, d * d * sizeof *Pi);
    for (size_t j = 0; j < d; j++) Pi[j * (d + 1)] = 1;
}

/* Pi of component c for a row that misses cells. */
static void set_projection(const cri_gmm *m, size_t c, const double *t, const cri_gmm_seen *seen,
                           double *Pi)
{
    size_t d = m->d;
    set_identity(d, Pi);
    for (size_t j = 0; m->width == 1 && j < d; j++) Pi[j * (d + 1)] = isnan(t[j]) ? 0 : 1;
    for (size_t l = 0; m->width > 1 && l < seen->missing; l++) {
        const double *y = seen->Y + c * d * d + l * d;
        for (size_t i = 0; i < d * d; i++) Pi[i] -= y[i / d] * y[i % d];
    }
}

/* g [q] = `by` times the score of a row of a component. */
static void set_score(const curvature *a, const double *z, const double *Pi, double by, double *g)
{
    size_t d = a->m->d;
    g[0] = by;
    for (size_t j = 0; j < d; j++) g[1 + j] = by * z[j];
    for (size_t x = 0; x < a->at.size; x++) {
        size_t i, j;
        place(a, x, &i, &j);
        g[1 + d + x] = by * (i == j ? 0.5 : 1) * (z[i] * z[j] - Pi[i * d + j]);
    }
}

/* Scores of row `i` of the workspace as number `at` of those in doubt; second derivatives of one that misses cells. */
static void add_row(const curvature *a, const workspace *b, size_t i, size_t at, double *C)
{
    const cri_gmm *m = a->m;
    size_t         d = m->d, q = a->q;
    const double  *t = b->T + i * d;
    cri_gmm_seen   seen = { 0 };
    bool           whole = true;
    for (size_t j = 0; j < d; j++) whole &= !isnan(t[j]);
    if (!whole) cri_gmm_see_missing(m, t, &seen, b->steps);
    set_identity(d, b->Pi);
    for (size_t c = 0; c < m->k; c++) {
        double        r = b->r[i * m->k + c], n = b->w[i] * r;
        const double *z = whole ? b->z : seen.z + c * d;
        if (whole) cri_gmm_whiten(m, c, t, b->z);
        if (!whole) set_projection(m, c, t, &seen, b->Pi);
        set_score(a, z, b->Pi, sqrt(n), b->G + (c * CRI_GMM_BLOCK + at) * q);
        if (whole) continue;
        for (size_t x = 0; x < d * d; x++) b->M[x] = n * z[x / d] * z[x % d];
        for (size_t j = 0; j < d; j++) b->z[j] = n * z[j];
        add_rows(a, n, n, b->Pi, b->z, b->M, b->tmp, C + c * q * q);
    }
}

/* Takes sum_c r_c s_c s_c^T of n rows in doubt off C, and adds s s^T to E; which [n] are their places. */
static void add_doubt(const curvature *a, const workspace *b, const size_t *which, size_t n,
                      double *C, double *E)
{
    const cri_gmm *m = a->m;
    size_t         d = m->d, q = a->q, P = a->P;
    if (n == 0) return;
    memset(b->s, 0, n * P * sizeof(double));
    cri_blas_enter();
    for (size_t c = 0; c < m->k; c++) {
        double *G = b->G + c * CRI_GMM_BLOCK * q;
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)q, (int)n, -1, G, (int)q, 1,
                    C + c * q * q, (int)q);
        for (size_t i = 0; i < n; i++) {
            double *g = G + i * q, *s = b->s + i * P, root = sqrt(b->r[which[i] * m->k + c]);
            for (size_t x = 0; x < q; x++) g[x] *= root;
            if (c + 1 < m->k) s[c] = g[0];
            memcpy(s + a->means + c * d, g + 1, d * sizeof *s);
        }
        for (size_t kind = 0; kind < a->at.kinds; kind++) {
            cri_range p = a->at.moving[c * CRI_GMM_KINDS + kind];
            if (p.begin == p.end) continue;
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)(p.end - p.begin),
                        (int)a->at.size, 1, G + 1 + d, (int)q,
                        cri_gmm_direction(&a->at, c, p.begin), (int)a->at.size, 1,
                        b->s + a->covariances + p.begin, (int)P);
        }
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)P, (int)n, 1, b->s, (int)P, 1, E,
                (int)P);
    cri_blas_leave();
}

/* Whether a row has cells and weight, and misses some or does not belong to one component for sure. */
static bool is_in_doubt(const cri_gmm *m, const double *t, double w, const double *r, bool *whole)
{
    size_t seen = 0;
    double top = 0;
    for (size_t j = 0; j < m->d; j++) seen += isnan(t[j]) ? 0 : 1;
    for (size_t c = 0; c < m->k; c++) top = fmax(top, r[c]);
    *whole = seen == m->d;
    return w > 0 && seen > 0 && (!*whole || top < 1 - DOUBT);
}

static void gather(const void *of, const cri_rows *rows, cri_range range, double *sums,
                   double *work)
{
    const curvature *a = of;
    const cri_gmm   *m = a->m;
    workspace        b = cut(a, work);
    double          *C = sums + a->statistics, *E = C + m->k * a->q * a->q;
    for (size_t at = range.begin; at < range.end; at += CRI_GMM_BLOCK) {
        size_t end = range.end - at < CRI_GMM_BLOCK ? range.end : at + CRI_GMM_BLOCK, doubts = 0;
        size_t which[CRI_GMM_BLOCK];
        cri_rows_fill(rows, at, end, b.T, m->d);
        cri_gmm_respond(m, b.T, end - at, b.r, b.log_density, b.steps); /* T becomes t */
        for (size_t i = 0; i < end - at; i++) {
            bool whole;
            b.w[i] = rows->w ? rows->w[at + i] : 1;
            if (is_in_doubt(m, b.T + i * m->d, b.w[i], b.r + i * m->k, &whole)) {
                which[doubts] = i;
                add_row(a, &b, i, doubts++, C);
            }
            if (!whole) b.w[i] = 0;
        }
        add_doubt(a, &b, which, doubts, C, E);
        cri_gmm_add(m, b.T, b.w, end - at, sums, b.steps);
    }
}

/* --- the information -------------------------------------------------------------------------- */

/* Adds to C [k][q x q] the second derivatives of the complete rows and of the prior. */
static cr_status add_known(cr_ctx *cx, const curvature *a, const double *statistics, double *C)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    const cri_gmm *m = a->m;
    size_t         d = m->d, part = 1 + d + d * m->width;
    double        *Pi = cr_scratch_matrix(&s, d, d), *M = cr_scratch_matrix(&s, d, d);
    double        *tmp = cr_scratch_f64(&s, d * d + d), *first = cr_scratch_f64(&s, d);

    CR_TRY(s.status);
    set_identity(d, Pi);
    for (size_t c = 0; c < m->k; c++) {
        const double *of = statistics + 2 + c * part, *second = of + 1 + d, *b = m->b + c * d;
        const double *U = m->U + c * d * m->width, *L = m->prior_scale;
        for (size_t i = 0; i < d * d; i++) {
            size_t row = i / d, col = i % d, high = row > col ? row : col, low = row + col - high;
            M[i] = m->width > 1 ? second[high * d + low] : row == col ? second[row] : 0;
        }
        add_rows(a, of[0], of[0], Pi, of + 1, M, tmp, C + c * a->q * a->q);
        if (!(m->prior_rows > 0)) continue;
        for (size_t j = 0; j < d; j++) first[j] = -m->prior_kappa * b[j];
        for (size_t i = 0; i < d * d; i++) { /* U Lambda U^T + kappa b b^T */
            size_t row = i / d, col = i % d;
            M[i] = m->prior_kappa * b[row] * b[col];
            if (m->width == 1) M[i] += row == col ? U[row] * U[row] * L[row] : 0;
            for (size_t x = 0; m->width > 1 && x <= row; x++)
                for (size_t y = 0; y <= col; y++)
                    M[i] += U[row * d + x] * L[x * d + y] * U[col * d + y];
        }
        add_rows(a, m->prior_rows, m->prior_kappa, Pi, first, M, tmp, C + c * a->q * a->q);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* The parts of a component C [q x q] among the information of all, F [P x P], lower triangle. */
static void put_component(const curvature *a, size_t c, double *C, double *tmp, double *F)
{
    const cri_gmm *m = a->m;
    size_t         d = m->d, q = a->q, P = a->P, size = a->at.size, n = a->at.n;
    const double  *J = cri_gmm_direction(&a->at, c, 0);
    for (size_t i = 0; i < q; i++)
        for (size_t j = 0; j < i; j++) C[j * q + i] = C[i * q + j];
    for (size_t i = 0; i <= d; i++)
        for (size_t j = 0; j <= i; j++) {
            size_t row = i ? a->means + c * d + i - 1 : c, col = j ? a->means + c * d + j - 1 : c;
            if (c + 1 == m->k && j == 0) continue; /* the last share is what the others leave */
            F[row * P + col] += C[i * q + j];
        }
    cri_blas_enter();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)q, (int)size, 1, J,
                (int)size, C + (1 + d) * q, (int)q, 0, tmp, (int)q);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)size, 1, tmp + 1 + d,
                (int)q, J, (int)size, 1, F + a->covariances * (P + 1), (int)P);
    cri_blas_leave();
    for (size_t p = 0; p < n; p++) {
        double *row = F + (a->covariances + p) * P;
        if (c + 1 < m->k) row[c] += tmp[p * q];
        for (size_t j = 0; j < d; j++) row[a->means + c * d + j] += tmp[p * q + 1 + j];
    }
}

/* F [P x P] becomes its Cholesky factor in units [P] of its own diagonal; false where it is not positive definite. */
static bool factor_information(double *F, size_t P, double *unit, double *L)
{
    for (size_t i = 0; i < P; i++) {
        if (!(F[i * (P + 1)] > 0 && isfinite(F[i * (P + 1)]))) return false;
        unit[i] = 1 / sqrt(F[i * (P + 1)]);
    }
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j <= i; j++)
            F[i * P + j] = F[j * P + i] = F[i * P + j] * unit[i] * unit[j];
    if (!cri_factor_point(F, P, L)) return false;
    for (size_t i = 0; i < P; i++)
        if (!(L[i * (P + 1)] > 1e-5)) return false;
    return true;
}

/* --- sds -------------------------------------------------------------------------------------- */

/* sd of what changes by g [P], which is overwritten. */
static double sd_of(const double *L, const double *unit, size_t P, double *g)
{
    double sum = 0;
    for (size_t i = 0; i < P; i++) g[i] *= unit[i];
    cri_solve_lower(L, P, g);
    for (size_t i = 0; i < P; i++) sum += g[i] * g[i];
    return sqrt(sum);
}

/* The change of (S_c)_jj by the covariances' parameters, g [n]. */
static void change_of_variance(const curvature *a, size_t c, size_t j, double *g)
{
    const cri_gmm *m = a->m;
    size_t         d = m->d;
    const double  *l = m->L + (c * d + j) * m->width; /* row j of L_c */
    for (size_t p = 0; p < a->at.n; p++) {
        const double *B = cri_gmm_direction(&a->at, c, p);
        g[p] = m->width == 1 ? B[j] * l[0] * l[0] : 0;
        for (size_t x = 0; m->width > 1 && x < a->at.size; x++) {
            size_t row, col;
            place(a, x, &row, &col);
            if (row <= j) g[p] += (row == col ? 1 : 2) * B[x] * l[row] * l[col];
        }
    }
}

static void set_errors(const curvature *a, const double *L, const double *unit, double *g,
                       double *error)
{
    const cri_gmm *m = a->m;
    size_t         d = m->d, P = a->P;
    for (size_t c = 0; c < m->k; c++) {
        memset(g, 0, P * sizeof *g);
        for (size_t l = 0; l + 1 < m->k; l++) g[l] = m->share[c] * ((c == l) - m->share[l]);
        error[c] = sd_of(L, unit, P, g);
        for (size_t j = 0; j < d; j++) {
            const double *row = m->L + (c * d + j) * m->width;
            double        variance = 0;
            memset(g, 0, P * sizeof *g);
            for (size_t l = 0; l < m->width && l <= j; l++) {
                g[a->means + c * d + (m->width == 1 ? j : l)] = row[l];
                variance += row[l] * row[l];
            }
            error[m->k + c * d + j] = sd_of(L, unit, P, g);
            memset(g, 0, P * sizeof *g);
            change_of_variance(a, c, j, g + a->covariances);
            error[m->k + m->kd + c * d + j] = sd_of(L, unit, P, g) / (2 * sqrt(variance));
        }
    }
}

static bool is_linear(int form)
{
    return form == CRI_GMM_EII || form == CRI_GMM_VII || form == CRI_GMM_EEI ||
           form == CRI_GMM_VVI || form == CRI_GMM_EEE || form == CRI_GMM_VVV;
}

/* The layout in *a, whose m is set, and *out_F [P x P], both in memory of `s`. */
static cr_status find_information(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, curvature *a,
                                  double **out_F)
{
    cr_status      st = CR_OK;
    const cri_gmm *m = a->m;
    double        *sums, *C, *F, *tmp;

    CR_TRY(cri_gmm_find_directions(cx, s, m, &a->at));
    a->q = 1 + m->d + a->at.size, a->statistics = cri_gmm_width(m), a->exact = is_linear(m->form);
    a->means = m->k - 1, a->covariances = a->means + m->kd, a->P = a->covariances + a->at.n;
    a->place = cr_scratch_index(s, 2 * a->at.size);
    sums = cr_scratch_f64(s, sums_size(a) + 1);
    tmp = cr_scratch_matrix(s, a->at.n, a->q);
    CR_TRY(s->status);
    set_places(m, a->at.size, a->place);
    CR_TRY(cri_em_gather(cx, &(cri_em_pass){ gather, a, sums_size(a), work_size(a), NULL, NULL },
                         rows, sums));
    C = sums + a->statistics, F = C + m->k * a->q * a->q;
    CR_TRY(add_known(cx, a, sums, C));
    for (size_t c = 0; c < m->k; c++) put_component(a, c, C + c * a->q * a->q, tmp, F);
    for (size_t c = 0; c + 1 < m->k; c++)
        for (size_t l = 0; l <= c; l++)
            F[c * a->P + l] += m->weight * m->share[c] * ((c == l) - m->share[l]);
    *out_F = F;
done:
    return st;
}

cr_status cri_gmm_information(cr_ctx *cx, cr_scratch *s, const cri_rows *rows, const cri_gmm *m,
                              cri_gmm_directions *out_at, size_t *out_P, double **out_F)
{
    curvature a = { .m = m };
    cr_status st = find_information(cx, s, rows, &a, out_F);
    if (st == CR_OK) *out_at = a.at, *out_P = a.P;
    return st;
}

cr_status cri_gmm_find_errors(cr_ctx *cx, const cri_rows *rows, bool late, cri_gmm *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    curvature  a = { .m = m };
    double    *F, *L, *unit;

    m->errors = late ? CRI_GMM_ERRORS_LATE
                : cri_gmm_parameters(m->form, m->k, m->d, m->factors) > MOST_PARAMETERS
                    ? CRI_GMM_ERRORS_MANY
                    : CRI_GMM_ERRORS_FLAT;
    if (m->errors != CRI_GMM_ERRORS_FLAT) goto done;
    CR_TRY(find_information(cx, &s, rows, &a, &F));
    L = cr_scratch_matrix(&s, a.P, a.P), unit = cr_scratch_f64(&s, 2 * a.P);
    CR_TRY(s.status);
    if (!factor_information(F, a.P, unit, L)) goto done;
    m->listed = m->k + 2 * m->kd;
    m->error = cr_alloc(cx, m->listed, sizeof *m->error);
    if (!m->error) CR_TRY(CR_ENOMEM);
    set_errors(&a, L, unit, unit + a.P, m->error);
    m->errors = CRI_GMM_ERRORS_FOUND;
done:
    cr_scratch_end(&s);
    return st;
}

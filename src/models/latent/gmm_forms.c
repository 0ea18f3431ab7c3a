/* gmm_forms.c -- the covariances of each form.
 * In the M-step the covariances minimise
 *   F = sum_c N_c log|S_c| + tr(W_c S_c^-1)
 * among those of the form, W_c being the scatter of component c (and of the prior) and N_c what it counts.  With
 * S_c = lambda_c D_c A_c D_c^T, |A_c| = 1, most forms have a closed form.  VEI, VEE and VEV alternate between volumes
 * and what the components share; EVE and VVE between the shapes and the common orientation D, which is turned in one
 * plane after the other: each step lowers F from that of the state, so that EM stays monotone.
 * Celeux & Govaert (1995), Pattern Recognition 28, sec. 4; Flury & Gautschi (1986), SIAM J. Sci. Stat. Comp. 7.  (For D
 * Browne & McNicholas (2014) majorise, with a singular value decomposition in each round: ten times slower here.) */
#include "gmm.h"
#include "base/scratch.h"
#include "math/dense/decompose.h"
#include "math/dense/dense.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 60 };
static const double ENOUGH = 1e-10; /* relative gain of a round at which it ends */

const char *cri_gmm_form_name(int form)
{
    static const char *const names[] = { "EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE",
                                         "EVE", "VVE", "EEV", "VEV", "EVV", "VVV", "ppca" };
    return names[form];
}

double cri_gmm_parameters(int form, size_t k, size_t d, size_t factors)
{
    const char *name = cri_gmm_form_name(form);
    double      K = (double)k, D = (double)d, Q = (double)factors;
    if (form == CRI_GMM_PPCA) return K - 1 + K * (D + D * Q - Q * (Q - 1) / 2 + 1);
    double volumes = name[0] == 'V' ? K : 1;
    double shapes = name[1] == 'I' ? 0 : (name[1] == 'V' ? K : 1) * (D - 1);
    double turns = name[2] == 'I' ? 0 : (name[2] == 'V' ? K : 1) * D * (D - 1) / 2;
    return K - 1 + K * D + volumes + shapes + turns;
}

bool cri_gmm_is_unit_free(int form)
{
    return form != CRI_GMM_EII && form != CRI_GMM_VII && form != CRI_GMM_EVE &&
           form != CRI_GMM_VVE && form != CRI_GMM_EEV && form != CRI_GMM_VEV &&
           form != CRI_GMM_PPCA;
}

/* --- what the forms share --------------------------------------------------------------------- */

typedef struct problem {
    cr_ctx        *cx;
    cr_scratch    *room;
    const double  *W, *N; /* [k][d x width], [k] */
    double        *C;     /* [k][d x width]      */
    size_t         k, d, width, size;
    double        *volume; /* [k] lambda_c of the state, which the rounds begin with */
    double         total;  /* sum of N */
    const cri_gmm *m;
} problem;

/* The geometric mean of a diagonal with `step` numbers between its entries. */
static double geometric_mean(const double *diagonal, size_t d, size_t step)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += log(diagonal[j * step]);
    return exp(sum / (double)d);
}

/* out = sum_c W_c / by_c, or sum_c W_c. */
static void add_scatter(const problem *q, const double *opt_by, double *out)
{
    memset(out, 0, q->size * sizeof *out);
    for (size_t c = 0; c < q->k; c++)
        for (size_t i = 0; i < q->size; i++)
            out[i] += q->W[c * q->size + i] / (opt_by ? opt_by[c] : 1);
}

/* |A|^(1/d) of a matrix of the shape of W_c, and tr(B A^-1); NaN where A has no factor.  tmp [2 d^2 + d]. */
static double root_determinant(const problem *q, const double *A, double *tmp)
{
    if (q->width == 1) return geometric_mean(A, q->d, 1);
    return cri_factor_point(A, q->d, tmp) ? exp(cri_log_det(tmp, q->d) / (double)q->d) : NAN;
}

static double trace_of_ratio(const problem *q, const double *B, const double *A, double *tmp)
{
    double sum = 0, *inverse = tmp + q->d * q->d;
    for (size_t j = 0; q->width == 1 && j < q->d; j++) sum += B[j] / A[j];
    if (q->width == 1) return sum;
    if (!cri_factor_point(A, q->d, tmp)) return NAN;
    cri_small_inverse(tmp, q->d, inverse, inverse + q->d * q->d);
    for (size_t i = 0; i < q->size; i++) sum += B[i] * inverse[i];
    return sum;
}

static void set_scaled(const problem *q, size_t c, const double *A, double factor)
{
    for (size_t i = 0; i < q->size; i++) q->C[c * q->size + i] = factor * A[i];
}

/* The mean of a diagonal in place of each of its numbers. */
static void level(double *diagonal, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += diagonal[j];
    for (size_t j = 0; j < d; j++) diagonal[j] = sum / (double)d;
}

/* true when a round that brought F from `before` to `now` was the last one worth it. */
static bool is_enough(double before, double now)
{
    return !(before - now > ENOUGH * (1 + fabs(now)));
}

/* --- forms ------------------------------------------------------------------------------------ */

/* EII, EEI, EEE: one covariance. */
static cr_status solve_equal(problem *q)
{
    add_scatter(q, NULL, q->C);
    for (size_t c = q->k; c-- > 0;) set_scaled(q, c, q->C, 1 / q->total);
    for (size_t c = 0; q->m->form == CRI_GMM_EII && c < q->k; c++) level(q->C + c * q->size, q->d);
    return CR_OK;
}

/* VII, VVI, VVV: each its own. */
static cr_status solve_each(problem *q)
{
    for (size_t c = 0; c < q->k; c++) {
        set_scaled(q, c, q->W + c * q->size, 1 / q->N[c]);
        if (q->m->form == CRI_GMM_VII) level(q->C + c * q->size, q->d);
    }
    return CR_OK;
}

/* EVI, EVV: one volume. */
static cr_status solve_equal_volume(problem *q)
{
    double *tmp = cr_scratch_f64(q->room, 2 * q->d * q->d + q->d), volume = 0;
    if (q->room->status != CR_OK) return q->room->status;
    for (size_t c = 0; c < q->k; c++)
        volume += root_determinant(q, q->W + c * q->size, tmp) / q->total;
    for (size_t c = 0; c < q->k; c++)
        set_scaled(q, c, q->W + c * q->size, volume / root_determinant(q, q->W + c * q->size, tmp));
    return CR_OK;
}

/* VEI, VEE: volumes lambda_c, and one B of determinant 1 for the rest. */
static cr_status solve_volumes(problem *q)
{
    double *tmp = cr_scratch_f64(q->room, 2 * q->d * q->d + q->d);
    double *B = cr_scratch_f64(q->room, q->size), d = (double)q->d, before = INFINITY;
    if (q->room->status != CR_OK) return q->room->status;
    for (size_t round = 0; round < MOST_ROUNDS; round++) {
        double F = 0, root;
        add_scatter(q, q->volume, B);
        root = root_determinant(q, B, tmp);
        for (size_t i = 0; i < q->size; i++) B[i] /= root;
        for (size_t c = 0; c < q->k; c++) {
            double trace = trace_of_ratio(q, q->W + c * q->size, B, tmp);
            q->volume[c] = trace / (d * q->N[c]);
            F += q->N[c] * d * (log(q->volume[c]) + 1);
        }
        if (is_enough(before, F)) break;
        before = F;
    }
    for (size_t c = 0; c < q->k; c++) set_scaled(q, c, B, q->volume[c]);
    return CR_OK;
}

/* C_c = D diag(a) D^T, D [d x d] by columns. */
static void turn(const problem *q, size_t c, const double *D, const double *a)
{
    size_t  d = q->d;
    double *C = q->C + c * q->size;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t l = 0; l < d; l++) sum += D[i * d + l] * a[l] * D[j * d + l];
            C[i * d + j] = C[j * d + i] = sum;
        }
}

/* EEV, VEV: one shape A; each its orientation, the eigenvectors of W_c; volumes equal or not. */
static cr_status solve_shape(problem *q)
{
    cr_status st = CR_OK;
    size_t    d = q->d;
    double   *D = cr_scratch_matrix(q->room, q->k, q->size);
    double   *value = cr_scratch_matrix(q->room, q->k, d), *A = cr_scratch_f64(q->room, d);
    double    before = INFINITY, root = 0;
    bool      equal = q->m->form == CRI_GMM_EEV;

    CR_TRY(q->room->status);
    for (size_t c = 0; c < q->k; c++)
        CR_TRY(cr_eigen(q->cx, cr_cmat_of(q->W + c * q->size, d, d), value + c * d,
                        cr_mat_of(D + c * q->size, d, d)));
    for (size_t round = 0; round < (equal ? 1 : MOST_ROUNDS); round++) {
        double F = 0;
        memset(A, 0, d * sizeof *A);
        for (size_t i = 0; i < q->k * d; i++)
            A[i % d] += fmax(value[i], 0) / (equal ? 1 : q->volume[i / d]);
        root = geometric_mean(A, d, 1);
        for (size_t j = 0; j < d; j++) A[j] /= root;
        for (size_t c = 0; c < q->k; c++) {
            double trace = 0;
            for (size_t j = 0; j < d; j++) trace += fmax(value[c * d + j], 0) / A[j];
            q->volume[c] = equal ? root / q->total : trace / ((double)d * q->N[c]);
            F += q->N[c] * (double)d * (log(q->volume[c]) + 1);
        }
        if (is_enough(before, F)) break;
        before = F;
    }
    for (size_t c = 0; c < q->k; c++) {
        for (size_t j = 0; j < d; j++) value[c * d + j] = q->volume[c] * A[j];
        turn(q, c, D + c * q->size, value + c * d);
    }
done:
    return st;
}

/* The orientation that the components of the state share: the eigenvectors of a sum of its covariances in unequal
 * parts; or, where they have none, those of all scatter together. */
static cr_status find_orientation(problem *q, double *D)
{
    cr_status st = CR_OK;
    size_t    d = q->d;
    double   *S = cr_scratch_f64(q->room, q->size), *sum = cr_scratch_f64(q->room, q->size);
    double   *values = cr_scratch_f64(q->room, d);
    bool      round = true;
    CR_TRY(q->room->status);
    memset(sum, 0, q->size * sizeof *sum);
    for (size_t c = 0; c < q->k; c++) {
        cri_gmm_covariance(q->m, c, S);
        for (size_t i = 0; i < q->size; i++) {
            sum[i] += S[i] / q->volume[c] / (1 + 0.37 * (double)c);
            round &= i / d == i % d ? fabs(S[i] - S[0]) <= 1e-12 * S[0] : S[i] == 0;
        }
    }
    if (round) add_scatter(q, NULL, sum);
    CR_TRY(cr_eigen(q->cx, cr_cmat_of(sum, d, d), values, cr_mat_of(D, d, d)));
done:
    return st;
}

/* Shapes (times volumes) a [k x d] that are best for the orientation D, from the diagonals of T_c = D^T W_c D; returns
 * F. */
static double shapes_for(const problem *q, const double *T, bool equal, double *a)
{
    size_t d = q->d;
    double F = 0, volume = 0;
    for (size_t c = 0; c < q->k; c++) {
        for (size_t l = 0; l < d; l++) a[c * d + l] = T[c * q->size + l * (d + 1)] / q->N[c];
        volume += q->N[c] / q->total * geometric_mean(a + c * d, d, 1);
        if (!equal) F += q->N[c] * (double)d * (log(geometric_mean(a + c * d, d, 1)) + 1);
    }
    for (size_t c = 0; equal && c < q->k; c++) {
        double root = geometric_mean(a + c * d, d, 1);
        for (size_t l = 0; l < d; l++) a[c * d + l] *= volume / root;
    }
    return equal ? q->total * (double)d * (log(volume) + 1) : F;
}

/* Columns i and j of M [d x d] turned by an angle of this cosine and sine. */
static void rotate_columns(double *M, size_t d, size_t i, size_t j, double cosine, double sine)
{
    for (size_t l = 0; l < d; l++) {
        double x = M[l * d + i], y = M[l * d + j];
        M[l * d + i] = cosine * x + sine * y, M[l * d + j] = cosine * y - sine * x;
    }
}

static void rotate_rows(double *M, size_t d, size_t i, size_t j, double cosine, double sine)
{
    for (size_t l = 0; l < d; l++) {
        double x = M[i * d + l], y = M[j * d + l];
        M[i * d + l] = cosine * x + sine * y, M[j * d + l] = cosine * y - sine * x;
    }
}

/* Turns D in each plane of two columns i, j to the best angle for the shapes a: there
 *   sum_c tr(T_c diag(1/a_c)) = constant + X cos 2 theta + Y sin 2 theta,
 *   X = sum_c g_c (T_ii - T_jj) / 2,   Y = sum_c g_c T_ij,   g_c = 1/a_ci - 1/a_cj. */
static void sweep(const problem *q, const double *a, double *T, double *D)
{
    size_t d = q->d;
    for (size_t i = 0; i + 1 < d; i++)
        for (size_t j = i + 1; j < d; j++) {
            double X = 0, Y = 0, theta;
            for (size_t c = 0; c < q->k; c++) {
                const double *M = T + c * q->size;
                double        g = 1 / a[c * d + i] - 1 / a[c * d + j];
                X += 0.5 * g * (M[i * (d + 1)] - M[j * (d + 1)]), Y += g * M[i * d + j];
            }
            if (!(hypot(X, Y) > 0)) continue;
            theta = 0.5 * atan2(-Y, -X);
            rotate_columns(D, d, i, j, cos(theta), sin(theta));
            for (size_t c = 0; c < q->k; c++) {
                rotate_columns(T + c * q->size, d, i, j, cos(theta), sin(theta));
                rotate_rows(T + c * q->size, d, i, j, cos(theta), sin(theta));
            }
        }
}

/* EVE, VVE: one orientation D. */
static cr_status solve_orientation(problem *q)
{
    cr_status st = CR_OK;
    size_t    d = q->d, k = q->k;
    bool      equal = q->m->form == CRI_GMM_EVE;
    double   *D = cr_scratch_matrix(q->room, d, d), *half = cr_scratch_matrix(q->room, d, d);
    double   *T = cr_scratch_matrix(q->room, k, q->size), *a = cr_scratch_matrix(q->room, k, d);
    double    before;

    CR_TRY(q->room->status);
    CR_TRY(find_orientation(q, D));
    for (size_t c = 0; c < k; c++) { /* D^T W_c D */
        CR_TRY(cr_gemm(q->cx, 1, cr_cmat_of(D, d, d), CR_TRANSPOSED,
                       cr_cmat_of(q->W + c * q->size, d, d), CR_PLAIN, 0, cr_mat_of(half, d, d)));
        CR_TRY(cr_gemm(q->cx, 1, cr_cmat_of(half, d, d), CR_PLAIN, cr_cmat_of(D, d, d), CR_PLAIN, 0,
                       cr_mat_of(T + c * q->size, d, d)));
    }
    before = shapes_for(q, T, equal, a);
    for (size_t round = 0; round < MOST_ROUNDS && isfinite(before); round++) {
        sweep(q, a, T, D);
        double F = shapes_for(q, T, equal, a);
        if (is_enough(before, F)) break;
        before = F;
    }
    for (size_t c = 0; c < k; c++) turn(q, c, D, a + c * d);
done:
    return st;
}

/* ppca: the greatest `factors` eigenvalues of W_c / N_c as they are, the mean of the others in their place.  Tipping &
 * Bishop (1999), Neural Computation 11, sec. 3.3. */
static cr_status solve_factors(problem *q)
{
    cr_status st = CR_OK;
    size_t    d = q->d, noise = d - q->m->factors;
    double   *V = cr_scratch_matrix(q->room, d, d), *value = cr_scratch_f64(q->room, d);

    CR_TRY(q->room->status);
    for (size_t c = 0; c < q->k; c++) {
        CR_TRY(cr_eigen(q->cx, cr_cmat_of(q->W + c * q->size, d, d), value, cr_mat_of(V, d, d)));
        for (size_t j = 0; j < d; j++) value[j] = fmax(value[j], 0) / q->N[c];
        level(value, noise); /* they ascend */
        turn(q, c, V, value);
    }
done:
    return st;
}

static cr_status (*const solvers[])(problem *q) = {
    [CRI_GMM_EII] = solve_equal,        [CRI_GMM_VII] = solve_each,
    [CRI_GMM_EEI] = solve_equal,        [CRI_GMM_VEI] = solve_volumes,
    [CRI_GMM_EVI] = solve_equal_volume, [CRI_GMM_VVI] = solve_each,
    [CRI_GMM_EEE] = solve_equal,        [CRI_GMM_VEE] = solve_volumes,
    [CRI_GMM_EVE] = solve_orientation,  [CRI_GMM_VVE] = solve_orientation,
    [CRI_GMM_EEV] = solve_shape,        [CRI_GMM_VEV] = solve_shape,
    [CRI_GMM_EVV] = solve_equal_volume, [CRI_GMM_VVV] = solve_each,
    [CRI_GMM_PPCA] = solve_factors,
};

cr_status cri_gmm_covariances(cr_ctx *cx, const cri_gmm *m, const double *W, const double *N,
                              double *C)
{
    cr_status  st = CR_OK;
    cr_scratch room = cr_scratch_begin(cx);
    size_t     d = m->d, size = d * m->width;
    problem    q = { .cx = cx, .room = &room, .W = W, .N = N, .C = C, .k = m->k, .d = d, .m = m };

    q.width = m->width, q.size = size;
    q.volume = cr_scratch_f64(&room, m->k);
    CR_TRY(room.status);
    for (size_t c = 0; c < m->k; c++) {
        const double *U = m->U + c * size;
        q.volume[c] = pow(geometric_mean(U, d, cri_gmm_is_diagonal(m->form) ? 1 : d + 1), -2);
        q.total += N[c];
        for (size_t i = 0; i < size; i++)
            if (!isfinite(W[c * size + i]) || !(N[c] > 0)) {
                memset(C, 0, m->k * size * sizeof *C); /* which have no factor */
                goto done;
            }
    }
    CR_TRY(solvers[m->form](&q));
done:
    cr_scratch_end(&room);
    return st;
}

/* gmm_directions.c -- the directions in which the covariances of a form can move.
 * About the covariances of a state S_c = L_c L_c^T those nearby are L_c (I + B_c) L_c^T, B_c symmetric.  A free parameter
 * of the form moves the B_c of one component, or of all of them together:
 *   volume        B = I
 *   shape         B = y_j y_j^T - y_d y_d^T,  y_j = L_c^-1 D_j e_j^1/2 orthonormal, e the eigenvalues and D the eigenvectors
 *   orientation   B = (e_j - e_i) / (e_i e_j)^1/2 (y_i y_j^T + y_j y_i^T)
 * Forms that have shape and orientation both equal or both variable have neither eigenvectors nor trouble where
 * eigenvalues meet: all B without a trace.  With ppca the factors move, and the noise as a whole. */
#include "gmm_directions.h"
#include "math/dense/decompose.h"

#include <math.h>
#include <string.h>

typedef struct frames {
    const cri_gmm *m;
    double        *y, *value; /* [k][d x d], row j of each y_j; [k x d] eigenvalues */
} frames;

/* B += by (x y^T + y x^T) / 2, B by its lower triangle. */
static void add_product(size_t d, const double *x, const double *y, double by, double *B)
{
    for (size_t i = 0, at = 0; i < d; i++)
        for (size_t j = 0; j <= i; j++, at++) B[at] += 0.5 * by * (x[i] * y[j] + x[j] * y[i]);
}

/* B of component c in direction number t of a kind; there are so many of these. */
typedef void   fill_fn(const frames *f, size_t c, size_t t, double *B);
typedef size_t count_fn(const cri_gmm *m);

static size_t one(const cri_gmm *m) { return (void)m, 1; }
static size_t shapes(const cri_gmm *m) { return m->d - 1; }
static size_t turns(const cri_gmm *m) { return m->d * (m->d - 1) / 2; }
static size_t traceless(const cri_gmm *m) { return m->d * (m->d + 1) / 2 - 1; }
static size_t factors(const cri_gmm *m)
{
    return 1 + m->d * m->factors - m->factors * (m->factors - 1) / 2;
}

static void fill_volume(const frames *f, size_t c, size_t t, double *B)
{
    (void)c, (void)t;
    for (size_t j = 0, at = 0; j < f->m->d; j++, at += f->m->width == 1 ? 1 : j + 1) B[at] = 1;
}

static void fill_traceless(const frames *f, size_t c, size_t t, double *B)
{
    (void)c;
    B[t] = 1;
    for (size_t j = 0, at = 0; j + 1 < f->m->d; j++, at += j + 1)
        if (at == t) B[traceless(f->m)] = -1;
}

static void fill_shape(const frames *f, size_t c, size_t t, double *B)
{
    size_t        d = f->m->d;
    const double *y = f->y + c * d * d;
    if (f->m->width == 1) {
        B[t] = 1, B[d - 1] = -1;
        return;
    }
    add_product(d, y + t * d, y + t * d, 1, B);
    add_product(d, y + (d - 1) * d, y + (d - 1) * d, -1, B);
}

static void fill_turn(const frames *f, size_t c, size_t t, double *B)
{
    size_t        d = f->m->d, i = 0, j = 1;
    const double *y = f->y + c * d * d, *e = f->value + c * d;
    for (; i + 1 < d && t >= d - 1 - i; i++) t -= d - 1 - i;
    j = i + 1 + t;
    add_product(d, y + i * d, y + j * d, 2 * (e[j] - e[i]) / sqrt(e[i] * e[j]), B);
}

/* The noise, then each pair of which the second is a factor; eigenvalues ascend. */
static void fill_factor(const frames *f, size_t c, size_t t, double *B)
{
    size_t        d = f->m->d, j = d - f->m->factors;
    const double *y = f->y + c * d * d;
    for (size_t i = 0; t == 0 && i < j; i++) add_product(d, y + i * d, y + i * d, 1, B);
    if (t-- == 0) return;
    for (; t > j; j++) t -= j + 1;
    add_product(d, y + t * d, y + j * d, 1, B);
}

/* Directions of a kind: of all components together (E), or of each (V).  One that moves nothing, since eigenvalues
 * meet, is none. */
static void add_directions(const frames *f, char letter, count_fn *count, fill_fn *fill,
                           cri_gmm_directions *out)
{
    size_t k = f->m->k, sets = letter == 'E' ? 1 : k;
    for (size_t set = 0; set < sets; set++) {
        size_t begin = out->n;
        for (size_t t = 0; t < count(f->m); t++) {
            double most = 0;
            for (size_t c = 0; c < k; c++) {
                double *B = cri_gmm_direction(out, c, out->n);
                memset(B, 0, out->size * sizeof *B);
                if (letter == 'E' || c == set) fill(f, c, t, B);
                for (size_t i = 0; i < out->size; i++) most = fmax(most, fabs(B[i]));
            }
            out->n += most > 1e-7;
        }
        for (size_t c = 0; c < k; c++)
            if (letter == 'E' || c == set)
                out->moving[c * CRI_GMM_KINDS + out->kinds] = (cri_range){ begin, out->n };
    }
    out->kinds++;
}

/* Eigenvectors of each covariance, or of a sum of all in unequal parts where they share them. */
static cr_status find_frames(cr_ctx *cx, cr_scratch *s, bool common, frames *f)
{
    cr_status      st = CR_OK;
    const cri_gmm *m = f->m;
    size_t         d = m->d;
    double        *S = cr_scratch_matrix(s, d, d), *sum = cr_scratch_bytes(s, d * d, sizeof *sum);
    double        *V = cr_scratch_matrix(s, d, d), *values = cr_scratch_f64(s, d);

    f->y = cr_scratch_bytes(s, m->k * d * d, sizeof *f->y);
    f->value = cr_scratch_bytes(s, m->k * d, sizeof *f->value);
    CR_TRY(s->status);
    for (size_t c = 0; common && c < m->k; c++) {
        double trace = 0;
        cri_gmm_covariance(m, c, S);
        for (size_t j = 0; j < d; j++) trace += S[j * (d + 1)];
        for (size_t i = 0; i < d * d; i++) sum[i] += S[i] / trace / (1 + 0.37 * (double)c);
    }
    for (size_t c = 0; c < m->k; c++) {
        cri_gmm_covariance(m, c, S);
        CR_TRY(cr_eigen(cx, cr_cmat_of(common ? sum : S, d, d), values, cr_mat_of(V, d, d)));
        for (size_t j = 0; j < d; j++) {
            double *y = f->y + (c * d + j) * d, *e = f->value + c * d + j;
            for (size_t i = 0; i < d * d; i++) *e += V[i / d * d + j] * S[i] * V[i % d * d + j];
            for (size_t i = 0; i < d; i++)
                for (size_t l = 0; l <= i; l++)
                    y[i] += m->U[(c * d + i) * d + l] * V[l * d + j] * sqrt(*e);
        }
    }
done:
    return st;
}

cr_status cri_gmm_find_directions(cr_ctx *cx, cr_scratch *s, const cri_gmm *m,
                                  cri_gmm_directions *out)
{
    cr_status   st = CR_OK;
    const char *form = cri_gmm_form_name(m->form);
    frames      f = { .m = m };
    double      others = (double)(m->k - 1 + m->kd);
    bool        whole = form[1] == form[2], ppca = m->form == CRI_GMM_PPCA;

    out->most = (size_t)(cri_gmm_parameters(m->form, m->k, m->d, m->factors) - others);
    out->size = m->width == 1 ? m->d : m->d * (m->d + 1) / 2;
    out->n = 0, out->kinds = 0;
    out->moving = cr_scratch_bytes(s, m->k * CRI_GMM_KINDS, sizeof *out->moving);
    out->J = cr_scratch_bytes(s, m->k * (out->most + 1), out->size * sizeof *out->J);
    CR_TRY(s->status);
    if (m->width > 1 && (ppca || !whole)) CR_TRY(find_frames(cx, s, !ppca && form[2] == 'E', &f));
    if (ppca) {
        add_directions(&f, 'V', factors, fill_factor, out);
        goto done;
    }
    add_directions(&f, form[0], one, fill_volume, out);
    if (m->width > 1 && whole) add_directions(&f, form[1], traceless, fill_traceless, out);
    if (!whole) add_directions(&f, form[1], shapes, fill_shape, out);
    if (m->width > 1 && !whole) add_directions(&f, form[2], turns, fill_turn, out);
done:
    return st;
}

/* gp_spectrum.c -- frequencies and weights of the terms of a kernel. */
#include "gp_spectrum.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "math/dense/dense.h"
#include "math/kernel/kernel_internal.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

enum { LENGTH = 0, NU = 1, ALPHA = 1, PERIOD = 1, MOST_HARMONICS = 24, ROWS = 16 };
static const double TWO_PI = 6.28318530717958647693;

/* --- terms ----------------------------------------------------------------------------------- */

static cr_status refuse(cr_ctx *cx, const char *what)
{
    cr_fail(cx, CR_EUNSUPPORTED, "--approx rff: %s has no random Fourier features here", what);
    return cr_fail_hint(cx, "rbf, matern, rq, periodic, cosine and linear have them, and their "
                            "sums and products; --approx vfe takes any kernel");
}

/* a := all products of one term of a with one of b. */
static cr_status multiply_terms(cr_ctx *cx, cri_gp_term *a, size_t *n_a, const cri_gp_term *b,
                                size_t n_b, cri_gp_term *workspace)
{
    if (*n_a * n_b > CRI_GP_MOST_TERMS) return refuse(cx, "a product of so many sums");
    for (size_t i = 0; i < *n_a; i++)
        for (size_t j = 0; j < n_b; j++) {
            cri_gp_term t = a[i];
            if (t.n + b[j].n > CRI_GP_TERM_LEAVES)
                return refuse(cx, "a product of so many kernels");
            for (size_t l = 0; l < b[j].n; l++) t.leaf[t.n++] = b[j].leaf[l];
            workspace[i * n_b + j] = t;
        }
    *n_a *= n_b;
    memcpy(a, workspace, *n_a * sizeof *a);
    return CR_OK;
}

/* The node as a sum of products: out [MOST_TERMS]. */
static cr_status expand(cr_ctx *cx, const cr_kernel *k, size_t at, cri_gp_term *out, size_t *out_n)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    const cri_node *node = &k->nodes[at];
    cri_gp_term    *child = cr_scratch_bytes(&s, CRI_GP_MOST_TERMS, sizeof *child);
    cri_gp_term    *workspace = cr_scratch_bytes(&s, CRI_GP_MOST_TERMS, sizeof *workspace);
    size_t          n = 0, some;

    CR_TRY(s.status);
    if (node->op == CRI_OVER) CR_TRY(refuse(cx, "a kernel over another"));
    if (node->op == CRI_LEAF) {
        out[n++] = (cri_gp_term){ .n = 1, .leaf = { at } };
    } else if (node->op == CRI_SUM) {
        for (size_t c = node->first; c != SIZE_MAX; c = k->nodes[c].next) {
            CR_TRY(expand(cx, k, c, child, &some));
            if (n + some > CRI_GP_MOST_TERMS) CR_TRY(refuse(cx, "a sum of so many terms"));
            memcpy(out + n, child, some * sizeof *out);
            n += some;
        }
    } else {
        size_t times = node->op == CRI_POWER ? node->power : 1;
        out[n++] = (cri_gp_term){ .n = 0 };
        for (size_t c = node->first; c != SIZE_MAX; c = k->nodes[c].next) {
            CR_TRY(expand(cx, k, c, child, &some));
            for (size_t p = 0; p < times; p++)
                CR_TRY(multiply_terms(cx, out, &n, child, some, workspace));
        }
    }
    *out_n = n;
done:
    cr_scratch_end(&s);
    return st;
}

static size_t active(const cri_node *node, size_t d)
{
    return node->n_columns ? node->n_columns : d;
}

/* Draws that a leaf takes for one frequency. */
static size_t draws_of(const cri_node *node, size_t d)
{
    if (node->class == &cri_kernel_rbf || node->class == &cri_kernel_periodic)
        return active(node, d);
    if (node->class == &cri_kernel_matern || node->class == &cri_kernel_rq)
        return active(node, d) + 1;
    return node->class == &cri_kernel_cosine; /* a sign */
}

/* What a term is made of; its width and, when it is not random, its count. */
static cr_status check_term(cr_ctx *cx, const cr_kernel *k, cri_gp_term *t, size_t d)
{
    size_t straight = 0, cosines = 0, columns = 0;
    t->width = 0;
    for (size_t l = 0; l < t->n; l++) {
        const cri_node        *node = &k->nodes[t->leaf[l]];
        const cr_kernel_class *c = node->class;
        bool wave = c == &cri_kernel_rbf || c == &cri_kernel_matern || c == &cri_kernel_rq ||
                    c == &cri_kernel_periodic || c == &cri_kernel_cosine;
        bool line = c == &cri_kernel_linear;
        if (!wave && !line && c != &cri_kernel_constant)
            return refuse(cx, c ? c->name : "such a kernel");
        if (node->warp != CRI_PLAIN) return refuse(cx, "a warped kernel");
        cosines += wave;
        straight += line;
        if (line) columns = active(node, d);
        t->width += draws_of(node, d);
    }
    if (straight > 1 || (straight && cosines)) return refuse(cx, "a product with linear");
    t->random = cosines > 0;
    t->count = straight ? columns : t->random ? 0 : 1;
    return CR_OK;
}

/* --- draws ----------------------------------------------------------------------------------- */

/* column `at` of U [n x width]: one point in each of n equal parts of (0, 1), in random order. */
static void draw_column(cr_rng *rng, size_t n, size_t width, size_t at, size_t *order, double *U)
{
    cr_rng_permutation(rng, n, order);
    for (size_t i = 0; i < n; i++)
        U[i * width + at] = ((double)order[i] + cr_rng_uniform(rng)) / (double)n;
}

/* Uniform draws become harmonics j, in shares ~ 1 / (1 + j), kept as +-(j + 1 / (2 count_j)): the
 * weight of a draw is a_j over the number of draws of its harmonic; half of these have either sign,
 * as cosines that are multiplied ask for both a sum and a difference of frequencies. */
static void draw_harmonics(size_t n, size_t width, size_t at, double *U)
{
    size_t most = n / 4 + 1 < MOST_HARMONICS ? n / 4 + 1 : MOST_HARMONICS,
           count[MOST_HARMONICS] = { 0 };
    double total = 0;
    for (size_t j = 0; j < most; j++) total += 1 / (double)(1 + j);
    for (size_t i = 0; i < n; i++) {
        double u = U[i * width + at] * total;
        size_t j = 0;
        while (j + 1 < most && u >= 1 / (double)(1 + j)) u -= 1 / (double)(1 + j), j++;
        U[i * width + at] = count[j]++ % 2 ? -(double)j - 0.5 : (double)j + 0.5;
    }
    for (size_t i = 0; i < n; i++) {
        double sign = U[i * width + at] < 0 ? -1 : 1;
        size_t j = (size_t)fabs(U[i * width + at]);
        U[i * width + at] = sign * ((double)j + 0.5 / (double)count[j]);
    }
}

static void draw_term(const cr_kernel *k, cri_gp_term *t, size_t d, uint64_t seed, uint64_t stream,
                      size_t *order)
{
    size_t pairs = t->count / 2, at = 0;
    cr_rng rng = cr_rng_stream(seed, 4000 + stream);
    for (size_t c = 0; c < t->width; c++) draw_column(&rng, pairs, t->width, c, order, t->draws);
    for (size_t l = 0; l < t->n; l++) {
        const cri_node *node = &k->nodes[t->leaf[l]];
        size_t          width = draws_of(node, d), normal = width;
        if (node->class == &cri_kernel_matern || node->class == &cri_kernel_rq) normal--;
        for (size_t c = 0; c < width; c++) {
            if (node->class == &cri_kernel_periodic) {
                draw_harmonics(pairs, t->width, at + c, t->draws);
                continue;
            }
            for (size_t i = 0; i < pairs; i++) {
                double *u = t->draws + i * t->width + at + c;
                if (node->class == &cri_kernel_cosine)
                    *u = *u < 0.5 ? -1 : 1;
                else if (c < normal)
                    *u = cr_norm_ppf(fmin(fmax(*u, 1e-15), 1 - 1e-15));
                else if (node->class == &cri_kernel_matern) {
                    double nu = node->setting[NU];
                    *u = sqrt(nu / cr_gamma_p_inv(nu, fmax(*u, 1e-12)));
                }
            }
        }
        at += width;
    }
}

cr_status cri_gp_spectrum_new(cr_ctx *cx, cr_scratch *s, const cr_kernel *k, size_t m, size_t d,
                              uint64_t seed, cri_gp_spectrum *out)
{
    cr_status       st = CR_OK;
    cri_gp_spectrum sp = { .d = d };
    size_t          exact = 0, random = 0, at = 0, *order = cr_scratch_index(s, m);

    CR_TRY(s->status);
    CR_TRY(expand(cx, k, k->n_nodes - 1, sp.terms, &sp.n_terms));
    for (size_t t = 0; t < sp.n_terms; t++) {
        CR_TRY(check_term(cx, k, &sp.terms[t], d));
        exact += sp.terms[t].count;
        random += sp.terms[t].random;
    }
    size_t left = m > exact ? (m - exact) / 2 : 0;
    if (random && left < random)
        CR_TRY(cr_fail(cx, CR_EARG,
                       "--approx rff: %zu features are too few for this kernel; --inducing %zu "
                       "or more",
                       m, exact + 2 * random));
    for (size_t t = 0, place = 0; t < sp.n_terms; t++) {
        cri_gp_term *term = &sp.terms[t];
        if (term->random) {
            term->count = 2 * (left / random + (place < left % random));
            place++;
            term->draws = cr_scratch_matrix(s, term->count / 2, term->width);
            CR_TRY(s->status);
            draw_term(k, term, d, seed, t, order);
        }
        term->begin = at;
        at += term->count;
    }
    sp.m = at;
    *out = sp;
done:
    return st;
}

/* --- at some parameters ---------------------------------------------------------------------- */

/* The frequency w [d] and the square of the weight that one draw gives, times those of the leaf. */
static double add_leaf(const cr_kernel *k, const cri_node *node, const double *draw, size_t pairs,
                       size_t d, double *w)
{
    const cr_kernel_class *c = node->class;
    size_t                 n = active(node, d);
    double                 weight = 1, scale = 1;
    if (c == &cri_kernel_constant) return cri_value(k, node, 0, 0);
    if (c == &cri_kernel_matern) scale = draw[n];
    if (c == &cri_kernel_rq) {
        double alpha = cri_value(k, node, ALPHA, 0);
        scale = sqrt(cr_gamma_p_inv(alpha, fmin(fmax(draw[n], 1e-15), 1 - 1e-15)) / alpha);
    }
    for (size_t a = 0; a < n; a++) {
        size_t column = cri_column_at(k, node, a);
        if (c == &cri_kernel_cosine) {
            w[column] += draw[0] * TWO_PI / cri_value(k, node, 0, a);
        } else if (c == &cri_kernel_periodic) {
            double j = floor(fabs(draw[a])), l = cri_value(k, node, LENGTH, a), z = 1 / (l * l);
            double share = 1 / (2 * (fabs(draw[a]) - j) * (double)pairs);
            w[column] += copysign(TWO_PI * j / cri_value(k, node, PERIOD, a), draw[a]);
            weight *= (j > 0 ? 2 : 1) * exp(cr_log_bessel_i(j, z) - z) / share;
        } else {
            w[column] += draw[a] * scale / cri_value(k, node, LENGTH, a);
        }
    }
    return weight;
}

static void fill_waves(const cri_gp_term *t, const cr_kernel *k, size_t d, double *W,
                       double *weight, double *phase)
{
    size_t pairs = t->count / 2;
    for (size_t i = 0; i < pairs; i++) {
        double       *w = W + (t->begin + 2 * i) * d, square = 1 / (double)pairs;
        const double *draw = t->draws + i * t->width;
        for (size_t l = 0; l < t->n; l++) {
            const cri_node *node = &k->nodes[t->leaf[l]];
            square *= add_leaf(k, node, draw, pairs, d, w);
            draw += draws_of(node, d);
        }
        memcpy(w + d, w, d * sizeof *w);
        weight[t->begin + 2 * i] = weight[t->begin + 2 * i + 1] = sqrt(square);
        phase[t->begin + 2 * i + 1] = TWO_PI / 4; /* the sine */
    }
}

/* A constant, or the columns of a linear kernel. */
static void fill_lines(const cri_gp_term *t, const cr_kernel *k, size_t d, double *W,
                       double *weight, double *phase)
{
    double          square = 1;
    const cri_node *line = NULL;
    for (size_t l = 0; l < t->n; l++) {
        const cri_node *node = &k->nodes[t->leaf[l]];
        if (node->class == &cri_kernel_linear)
            line = node;
        else
            square *= cri_value(k, node, 0, 0);
    }
    for (size_t f = 0; f < t->count; f++) {
        weight[t->begin + f] = sqrt(square);
        if (!line) continue;
        W[(t->begin + f) * d + cri_column_at(k, line, f)] = 1;
        phase[t->begin + f] = CRI_GP_STRAIGHT;
    }
}

void cri_gp_spectrum_fill(const cri_gp_spectrum *sp, const cr_kernel *k, double *W, double *weight,
                          double *phase)
{
    memset(W, 0, sp->m * sp->d * sizeof *W);
    memset(phase, 0, sp->m * sizeof *phase);
    for (size_t t = 0; t < sp->n_terms; t++) {
        if (sp->terms[t].random)
            fill_waves(&sp->terms[t], k, sp->d, W, weight, phase);
        else
            fill_lines(&sp->terms[t], k, sp->d, W, weight, phase);
    }
}

/* --- features -------------------------------------------------------------------------------- */

typedef struct wave_work {
    size_t        m, n;
    const double *weight, *phase;
    double       *F, *angle;
} wave_work;

static void wave_rows(void *arg, size_t b)
{
    const wave_work *w = arg;
    cri_range        r = cri_block_range(w->m, ROWS, b);
    for (size_t f = r.begin; f < r.end; f++) {
        double *row = w->F + f * w->n, *angle = w->angle ? w->angle + f * w->n : NULL;
        bool    straight = w->phase[f] == CRI_GP_STRAIGHT;
        for (size_t i = 0; i < w->n; i++) {
            double t = row[i] - (straight ? 0 : w->phase[f]);
            if (angle) angle[i] = t;
            row[i] = w->weight[f] * (straight ? t : cos(t));
        }
    }
}

cr_status cri_gp_waves(cr_ctx *cx, const double *W, const double *weight, const double *phase,
                       size_t m, const double *X, size_t n, size_t d, double *F, double *opt_angle)
{
    cr_status st = CR_OK;
    wave_work w = { m, n, weight, phase, F, opt_angle };
    if (d)
        CR_TRY(cr_gemm(cx, 1, cr_cmat_of(W, m, d), CR_PLAIN, cr_cmat_of(X, n, d), CR_TRANSPOSED, 0,
                       cr_mat_of(F, m, n)));
    else
        memset(F, 0, m * n * sizeof *F);
    CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(m, ROWS), wave_rows, &w));
done:
    return st;
}

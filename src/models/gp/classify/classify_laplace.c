/* classify_laplace.c -- Laplace's approximation: two classes, and what is common to two and
 * more. */
#include "classify_laplace.h"
#include "base/parallel.h"
#include "math/dense/chol.h"
#include "math/dense/dense.h"

#include <math.h>
#include <string.h>

enum { ROWS = 64, STEPS = 200 }; /* rows of a matrix worked on at a time */
/* Converged when a step with a factor made for it raises the log posterior by less than this times
 * 1 + its size, so that the mode is known to about the square; or when f moves by less than this
 * times 1 + its size. */
static const double SMALL_GAIN = 1e-11, SMALL_MOVE = 1e-10;

void cri_classify_take(const cri_classify_data *all, const cri_gp_data *part, double *out)
{
    size_t C = all->C;
    for (size_t i = 0, k = 0; k < part->n; i++) {
        if (part != all->at && all->at->first[i] != part->first[k]) continue;
        memcpy(out + k++ * C, all->counts + i * C, C * sizeof(double));
    }
}

double cri_laplace_matrices(size_t F) { return F == 1 ? 2 : 2 * (double)F + 5; }

cr_status cri_laplace_new(cr_scratch *s, const cri_classify_data *all, size_t n, double *opt_L,
                          double *opt_E, cri_laplace *out)
{
    size_t F = all->F;
    *out = (cri_laplace){ .all = all,
                          .counts = cr_scratch_matrix(s, n, all->C),
                          .K = cr_scratch_matrix(s, n, n),
                          .L = opt_L ? opt_L : cr_scratch_matrix(s, n, n),
                          .E = opt_E || F == 1 ? opt_E : cr_scratch_matrix(s, F * n, n),
                          .f = cr_scratch_matrix(s, F, n),
                          .a = cr_scratch_matrix(s, F, n),
                          .root = cr_scratch_matrix(s, F, n),
                          .held = cr_scratch_matrix(s, F, n),
                          .p = F > 1 ? cr_scratch_matrix(s, F, n) : NULL,
                          .slope = cr_scratch_matrix(s, F, n),
                          .third = F > 1 ? NULL : cr_scratch_f64(s, n) };
    return s->status;
}

/* --- matrices -------------------------------------------------------------------------------- */

typedef struct matrix_work {
    size_t        n;
    const double *K, *root, *a, *u;
    double       *B;
} matrix_work;

static void fill_rows(void *arg, size_t block)
{
    const matrix_work *w = arg;
    cri_range          rows = cri_block_range(w->n, ROWS, block);
    for (size_t i = rows.begin; i < rows.end; i++) {
        const double *k = w->K + i * w->n;
        double       *b = w->B + i * w->n, r = w->root[i];
        for (size_t j = 0; j <= i; j++) b[j] = r * w->root[j] * k[j];
        b[i] += 1;
    }
}

cr_status cri_laplace_factor(cr_ctx *cx, size_t n, const double *K, const double *root, double *B)
{
    matrix_work w = { .n = n, .K = K, .root = root, .B = B };
    cr_status   st = cri_parallel_for(cx, NULL, cri_block_count(n, ROWS), fill_rows, &w);
    return st == CR_OK ? cr_chol(cx, cr_mat_of(B, n, n)) : st;
}

static void weigh_rows(void *arg, size_t block)
{
    const matrix_work *w = arg;
    cri_range          rows = cri_block_range(w->n, ROWS, block);
    for (size_t i = rows.begin; i < rows.end; i++) {
        double *b = w->B + i * w->n, x = 0.5 * (w->a[i] + w->u[i]), y = 0.5 * w->a[i];
        double  r = 0.5 * w->root[i];
        for (size_t j = 0; j <= i; j++) b[j] = x * w->a[j] + y * w->u[j] - r * w->root[j] * b[j];
    }
}

cr_status cri_laplace_weigh(cr_ctx *cx, size_t n, const double *root, const double *a,
                            const double *u, double *B)
{
    matrix_work w = { .n = n, .root = root, .a = a, .u = u, .B = B };
    return cri_parallel_for(cx, NULL, cri_block_count(n, ROWS), weigh_rows, &w);
}

/* --- two classes ----------------------------------------------------------------------------- */

static void look_two(cri_laplace *m, size_t n, double *workspace)
{
    (void)workspace;
    m->log_likelihood = 0;
    for (size_t i = 0; i < n; i++) {
        cri_classify_slope s = cri_classify_at(m->all->link, m->counts + 2 * i, m->f[i]);
        m->log_likelihood += s.log_p;
        m->slope[i] = s.first;
        m->root[i] = sqrt(fmax(s.minus_second, 0));
        m->third[i] = s.third;
    }
    m->log_posterior = m->log_likelihood - 0.5 * cr_dot(m->a, m->f, n);
}

static cr_status factor_two(cr_ctx *cx, size_t n, cri_laplace *m)
{
    cr_status st = cri_laplace_factor(cx, n, m->K, m->root, m->L);
    m->log_det = st == CR_OK ? cr_chol_logdet(cr_cmat_of(m->L, n, n)) : NAN;
    return st;
}

/* R & W alg. 3.1. */
static cr_status move_two(cr_ctx *cx, size_t n, cri_laplace *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_cmat    K = cr_cmat_of(m->K, n, n);
    double    *t = cr_scratch_f64(&s, n);

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) m->a[i] = m->held[i] * m->held[i] * m->f[i] + m->slope[i];
    CR_TRY(cr_gemv(cx, 1, K, CR_PLAIN, m->a, 0, t));
    for (size_t i = 0; i < n; i++) t[i] *= m->held[i];
    CR_TRY(cr_chol_solve(cx, cr_cmat_of(m->L, n, n), cr_mat_of(t, n, 1)));
    for (size_t i = 0; i < n; i++) m->a[i] -= m->held[i] * t[i];
    CR_TRY(cr_gemv(cx, 1, K, CR_PLAIN, m->a, 0, m->f));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status weigh_two(cr_ctx *cx, size_t n, cri_laplace *m, double *V)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *u = cr_scratch_f64(&s, n), *t = cr_scratch_f64(&s, n), *z = cr_scratch_f64(&s, n);

    CR_TRY(s.status);
    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(m->L, n, n), cr_mat_of(V, n, n)));
    for (size_t i = 0; i < n; i++) { /* the posterior variance is (1 - (B^-1)_ii) / W_ii */
        double weight = m->root[i] * m->root[i];
        u[i] = weight > 0 ? 0.5 * (1 - V[i * n + i]) * m->third[i] / weight : 0;
    }
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(m->K, n, n), CR_PLAIN, u, 0, t));
    for (size_t i = 0; i < n; i++) t[i] *= m->root[i];
    CR_TRY(cr_gemv(cx, 1, cr_cmat_of(V, n, n), CR_PLAIN, t, 0, z));
    for (size_t i = 0; i < n; i++) u[i] -= m->root[i] * z[i];
    CR_TRY(cri_laplace_weigh(cx, n, m->root, m->a, u, V));
done:
    cr_scratch_end(&s);
    return st;
}

static const cri_laplace_form form_two = { look_two, factor_two, move_two, weigh_two };

/* --- the mode -------------------------------------------------------------------------------- */

static cr_status hold(cr_ctx *cx, size_t n, cri_laplace *m, const cri_laplace_form *form)
{
    memcpy(m->held, m->root, m->all->F * n * sizeof *m->held);
    return form->factor(cx, n, m);
}

/* One step, halved while the log posterior falls by more than `small`; returns how far f moved at
 * the most, relative to 1 + its size.  from [2 F n], workspace [F]. */
static cr_status step(cr_ctx *cx, size_t n, cri_laplace *m, const cri_laplace_form *form,
                      double small, double *from, double *workspace, double *out_move)
{
    cr_status st = CR_OK;
    size_t    size = m->all->F * n;
    double    before = m->log_posterior, move = 0, most = 0, *a0 = from, *f0 = from + size;
    memcpy(a0, m->a, size * sizeof *a0);
    memcpy(f0, m->f, size * sizeof *f0);
    CR_TRY(form->move(cx, n, m));
    form->look(m, n, workspace);
    for (int k = 0; k < 40 && !(m->log_posterior >= before - small); k++) {
        for (size_t i = 0; i < size; i++) {
            m->a[i] = 0.5 * (m->a[i] + a0[i]);
            m->f[i] = 0.5 * (m->f[i] + f0[i]);
        }
        form->look(m, n, workspace);
    }
    for (size_t i = 0; i < size; i++) {
        move = fmax(move, fabs(m->f[i] - f0[i]));
        most = fmax(most, fabs(m->f[i]));
    }
    *out_move = move / (1 + most);
done:
    return st;
}

/* How far the mode still is after a step: Newton's method squares the distance, and with a factor
 * that is held each step leaves the share `rate` of the one before (0: it was not held). */
static double distance_left(double move, double rate)
{
    const double safe = 1e4; /* the constant of these laws depends on the kernel */
    return fmin(move, safe * move * (rate == 0 ? move : rate / 1e3));
}

/* From f and a that are set to the mode; L, E, roots and log_det there. */
static cr_status find_mode(cr_ctx *cx, size_t n, cri_laplace *m, const cri_laplace_form *form)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *from = cr_scratch_f64(&s, 2 * m->all->F * n),
           *workspace = cr_scratch_f64(&s, m->all->F);
    double move, last = INFINITY;
    bool   fresh = true;

    CR_TRY(s.status);
    form->look(m, n, workspace);
    m->converged = false;
    for (m->iterations = 0; m->iterations < STEPS && !m->converged; m->iterations++) {
        double before = m->log_posterior, small = SMALL_GAIN * (1 + fabs(before));
        if (fresh) CR_TRY(hold(cx, n, m, form));
        CR_TRY(step(cx, n, m, form, small, from, workspace, &move));
        m->converged = distance_left(move, fresh ? 0 : move / last) <= SMALL_MOVE ||
                       (fresh && m->log_posterior - before <= small);
        fresh = !fresh && !(move <= last / 3); /* or the first after one that was */
        last = move;
        if (isnan(m->log_posterior)) break;
    }
    CR_TRY(hold(cx, n, m, form));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the objective --------------------------------------------------------------------------- */

/* f = K a from the last a, unless 0 is better or there is none. */
static cr_status start(cr_ctx *cx, const cri_gp_problem *problem, cri_laplace *m)
{
    cr_status st = CR_OK;
    size_t    n = problem->data->n, F = m->all->F;
    double    square = 0;
    bool      warm = m->seen == problem->data && m->seen_n == n;
    if (!warm) {
        cri_classify_take(m->all, problem->data, m->counts);
        memset(m->a, 0, F * n * sizeof(double));
    }
    m->seen = NULL;
    for (size_t c = 0; c < F; c++) {
        CR_TRY(cr_gemv(cx, 1, cr_cmat_of(m->K, n, n), CR_PLAIN, m->a + c * n, 0, m->f + c * n));
        square += cr_dot(m->a + c * n, m->f + c * n, n);
    }
    /* beyond this the log posterior at a is sure to be below that at 0 */
    if (!(square <= 2 * log((double)m->all->C) * problem->data->count)) {
        memset(m->a, 0, F * n * sizeof(double));
        memset(m->f, 0, F * n * sizeof(double));
    }
done:
    return st;
}

cr_status cri_laplace_objective(cr_ctx *cx, void *method, const cri_gp_problem *problem,
                                const cr_kernel *k, double noise, double *out_value,
                                double *opt_gradient)
{
    cr_status               st = CR_OK;
    cri_laplace            *m = method;
    size_t                  n = problem->data->n;
    bool                    two = m->all->F == 1;
    const cri_laplace_form *form = two ? &form_two : &cri_laplace_many;
    cr_scratch              s = cr_scratch_begin(cx);
    cr_kernel_input         in = cri_gp_inputs(problem->data);
    double                 *V = m->L; /* the factor is not needed once it is inverted */
    (void)noise;

    CR_TRY(cr_kernel_gram(cx, k, &in, CR_FILL_BOTH, cr_mat_of(m->K, n, n)));
    CR_TRY(start(cx, problem, m));
    CR_TRY(find_mode(cx, n, m, form));
    m->log_evidence = m->log_posterior - 0.5 * m->log_det;
    if (!isfinite(m->log_evidence))
        CR_TRY(cr_fail(cx, CR_ENUMERIC, "gp-classify: the log evidence is not finite"));
    m->seen = problem->data;
    m->seen_n = n;
    if (opt_gradient) {
        if (!two) V = cr_scratch_matrix(&s, n, n);
        CR_TRY(s.status);
        CR_TRY(form->weigh(cx, n, m, V));
        CR_TRY(cr_kernel_gram_gradient(cx, k, &in, cr_cmat_of(V, n, n), opt_gradient));
        opt_gradient[cr_kernel_theta_size(k)] = 0;
    }
    *out_value = m->log_evidence;
done:
    cr_scratch_end(&s);
    return st;
}

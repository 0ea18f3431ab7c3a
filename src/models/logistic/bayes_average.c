/* bayes_average.c -- the average over the prior precision of Bayesian logistic regression. */
#include "bayes_average.h"
#include "base/scratch.h"
#include "math/constants.h"
#include "math/dense/chol.h"
#include "math/special/special.h"
#include "math/trapezoid.h"

#include <math.h>
#include <string.h>

static const double DOF = 4;    /* of the prior of t                                       */
static const double REACH = 14; /* nodes whose density is so far below the highest are left out */
static const double ENOUGH = 1e-5; /* change of the log evidence by a smaller step            */
static const double CLOSE = 1e-4;  /* the same between the nodes that are kept and all        */
static const double LEAST = 1e-5;  /* share of a node that is kept                            */
enum { MOST_KEPT = 1 << 20 };      /* numbers in the covariances of all parts                 */

/* --- densities ------------------------------------------------------------------------------- */

double cri_log_student(double square, size_t D, double dof)
{
    double d = (double)D;
    if (isinf(dof)) return -0.5 * (d * CRI_LOG_2PI + square);
    return cr_lgamma_abs((dof + d) / 2) - cr_lgamma_abs(dof / 2) - 0.5 * d * log(dof * M_PI) -
           0.5 * (dof + d) * log1p(square / dof);
}

/* The log density of x = - 2 log t. */
static double log_hyper_prior(double x)
{
    return cri_log_student(exp(-x), 1, DOF) - 0.5 * x; /* 2 of the half, 1/2 of dt/dx */
}

double cri_alpha_average_prior(const cri_alpha_average *a, const double *theta, double *gradient)
{
    double square = 0, top = -INFINITY, sum = 0, alpha = 0;
    for (size_t i = 0; i < a->D; i++)
        if (!(a->held && i % a->q == 0)) square += theta[i] * theta[i];
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < a->nodes; k++) {
            double log_p = a->log_prior[k] + 0.5 * (double)a->slopes * log(a->alpha[k] / a->base) -
                           0.5 * (a->alpha[k] - a->base) * square;
            if (pass == 0) top = fmax(top, log_p);
            if (pass == 1) sum += exp(log_p - top), alpha += exp(log_p - top) * a->alpha[k];
        }
    for (size_t i = 0; gradient && i < a->D; i++)
        if (!(a->held && i % a->q == 0)) gradient[i] += (alpha / sum - a->base) * theta[i];
    return top + log(sum);
}

size_t cri_alpha_average_part(const cri_alpha_average *a, size_t i)
{
    const double golden = 0.61803398874989484820;
    double       u = ((double)i + 0.5) * golden, sum = 0;
    u -= floor(u);
    for (size_t k = 0; k + 1 < a->parts; k++)
        if ((sum += a->share[k]) > u) return k;
    return a->parts - 1;
}

double cri_alpha_average_log(const cri_alpha_average *a, double dof, const double *theta,
                             double *workspace)
{
    size_t  D = a->D;
    double *away = workspace, *log_p = workspace + D;
    for (size_t k = 0; k < a->parts; k++) {
        const double *L = a->L + k * D * D, *centre = a->centre + k * D;
        double        square = 0;
        for (size_t i = 0; i < D; i++) away[i] = theta[i] - centre[i];
        for (size_t j = 0; j < D; j++) { /* L' away */
            double sum = 0;
            for (size_t i = j; i < D; i++) sum += L[i * D + j] * away[i];
            square += sum * sum;
        }
        log_p[k] = log(a->share[k]) + 0.5 * a->log_det[k] + cri_log_student(square, D, dof);
    }
    return cr_logsumexp(log_p, a->parts);
}

/* --- nodes ----------------------------------------------------------------------------------- */

/* What is known of the density of x: the nodes a step of 1 apart come from a walk. */
typedef struct alpha_walk {
    cri_alpha_search *search;
    double            unit; /* alpha = unit exp(x) */
    cri_node         *seen;
    size_t            n_seen;
} alpha_walk;

static cr_status evaluate(cr_ctx *cx, void *user, double x, cri_node *out)
{
    alpha_walk *w = user;
    for (size_t k = 0; k < w->n_seen; k++)
        if (w->seen[k].x == x) {
            *out = w->seen[k];
            return CR_OK;
        }
    cr_status st = cr_check_interrupt(cx);
    if (st == CR_OK) st = cri_alpha_at(w->search, w->unit * exp(x));
    if (st == CR_OK) *out = (cri_node){ x, log_hyper_prior(x) + w->search->log_evidence, 0 };
    return st;
}

/* From x = 0 both ways until the density is low. */
static cr_status walk(cr_ctx *cx, alpha_walk *w, double *out_from, double *out_to)
{
    const double FARTHEST = 40;
    cr_status    st = CR_OK;
    double       top = -INFINITY, ends[2] = { 0, 0 };
    for (int way = 0; way < 2; way++) {
        double sign = way == 0 ? 1 : -1;
        for (double x = way == 0 ? 0 : -1; fabs(x) <= FARTHEST; x += sign) {
            cri_node *node = &w->seen[w->n_seen];
            CR_TRY(evaluate(cx, w, x, node));
            w->n_seen++;
            ends[way] = x;
            top = fmax(top, node->log_density);
            if (node->log_density < top - REACH) break;
        }
    }
    *out_from = ends[1], *out_to = ends[0];
done:
    return st;
}

/* The sum of the mean squares of the columns whose coefficients have the precision alpha, from the
 * information at theta = 0, where all classes are as likely. */
static cr_status find_signal(cri_alpha_search *w, double *workspace, double *out)
{
    cr_status            st = CR_OK;
    cri_likelihood       f = *w->f;
    size_t               q = f.x->q, D = w->s->D;
    double               M = (double)f.M, curve = f.M == 1 ? 0.25 : (M - 1) / (M * M);
    cri_likelihood_value v = { .hessian = w->L };
    memset(workspace, 0, D * sizeof(double));
    CR_TRY(cri_likelihood_at(w->cx, &f, workspace, &v));
    *out = 0;
    for (size_t j = 0; j < q; j++) {
        bool first = f.x->intercept && j == 0;
        if (first && !w->shared) continue;
        *out += fmax(w->L[j * (D + 1)] - (first ? f.intercept_l2 : f.l2), 0) / curve;
    }
    *out /= f.x->weight;
done:
    return st;
}

/* Every stride-th node of g, from the offset that has the highest. */
static size_t thin(const cri_trapezoid *g, size_t stride, cri_node *out)
{
    size_t top = 0, n = 0;
    for (size_t k = 0; k < g->n; k++)
        if (g->at[k].log_density > g->at[top].log_density) top = k;
    for (size_t k = top % stride; k < g->n; k += stride) out[n++] = g->at[k];
    return n;
}

static double log_sum(const cri_node *at, size_t n, double step)
{
    double top = -INFINITY, sum = 0;
    for (size_t k = 0; k < n; k++) top = fmax(top, at[k].log_density);
    for (size_t k = 0; k < n; k++) sum += exp(at[k].log_density - top);
    return top + log(sum * step);
}

/* The fewest nodes that give the integral, without those of no account: *out_n, at `kept`. */
static cr_status find_nodes(cri_alpha_search *w, cr_scratch *s, double unit, cri_node *kept,
                            size_t *out_n, double *out_step, double *out_log_integral)
{
    cr_status     st = CR_OK;
    cri_trapezoid g = { .drop = REACH, .enough = ENOUGH, .label = "averaging over alpha" };
    alpha_walk    along = { .search = w, .unit = unit };
    double        from, to, total;
    size_t        stride = 1, n;
    g.at = cr_scratch_bytes(s, CRI_MOST_NODES, sizeof(cri_node));
    along.seen = cr_scratch_bytes(s, 128, sizeof(cri_node));
    CR_TRY(s->status);
    CR_TRY(walk(w->cx, &along, &from, &to));
    CR_TRY(cri_trapezoid_integrate(w->cx, &g, evaluate, &along, from, to, &total));
    for (; stride * 2 < g.n; stride *= 2) {
        n = thin(&g, 2 * stride, kept);
        if (n < 5 || fabs(log_sum(kept, n, g.step * 2 * (double)stride) - total) > CLOSE) break;
    }
    n = thin(&g, stride, kept);
    *out_step = g.step * (double)stride;
    *out_n = 0;
    double whole = log_sum(kept, n, 1);
    for (size_t k = 0; k < n; k++)
        if (kept[k].log_density > whole + log(LEAST)) kept[(*out_n)++] = kept[k];
    *out_log_integral = total;
done:
    return st;
}

/* --- parts ----------------------------------------------------------------------------------- */

/* log_share, share where the parts are the nodes, base, top and effective, from the log densities of the
 * nodes in log_share. */
static void set_shares(cri_alpha_average *a)
{
    double whole = cr_logsumexp(a->log_share, a->nodes), log_base = 0;
    a->top = 0;
    for (size_t k = 0; k < a->nodes; k++) {
        a->log_share[k] -= whole;
        log_base += exp(a->log_share[k]) * log(a->alpha[k]);
        if (a->log_share[k] > a->log_share[a->top]) a->top = k;
        if (a->parts == a->nodes) a->share[k] = exp(a->log_share[k]);
    }
    a->base = exp(log_base);
}

/* What covariance, of a normal whose prior precisions are of f, says of the number of coefficients that
 * the data determine. */
static double count_effective(const cri_likelihood *f, const double *covariance, size_t D)
{
    double sum = (double)D;
    for (size_t i = 0; i < D; i++)
        sum -= covariance[i * (D + 1)] *
               (f->x->intercept && i % f->x->q == 0 ? f->intercept_l2 : f->l2);
    return sum;
}

/* The normal of node k, in w->s and w->L, to its part; where there is one part, added to its moments. */
static cr_status add_part(cri_alpha_search *w, size_t k, double *inverse, cri_alpha_average *a)
{
    cr_status st = CR_OK;
    size_t    D = a->D;
    double    share = exp(a->log_share[k]);
    CR_TRY(cr_chol_inverse(w->cx, cr_cmat_of(w->L, D, D), cr_mat_of(inverse, D, D)));
    memcpy(a->mode + k * D, w->s->theta, D * sizeof(double));
    a->effective += share * count_effective(w->f, inverse, D);
    if (a->parts == a->nodes) {
        memcpy(a->centre + k * D, w->s->theta, D * sizeof(double));
        memcpy(a->covariance + k * D * D, inverse, D * D * sizeof(double));
        memcpy(a->L + k * D * D, w->L, D * D * sizeof(double));
        a->log_det[k] = w->log_det;
        goto done;
    }
    for (size_t i = 0; i < D; i++) a->centre[i] += share * w->s->theta[i];
    for (size_t i = 0; i < D * D; i++) a->covariance[i] += share * inverse[i];
done:
    return st;
}

/* L and log_det of a covariance. */
static cr_status invert(cr_ctx *cx, const double *covariance, size_t D, double *A, double *L,
                        double *out_log_det)
{
    cr_status st = CR_OK;
    memcpy(L, covariance, D * D * sizeof(double));
    CR_TRY(cr_chol(cx, cr_mat_of(L, D, D)));
    CR_TRY(cr_chol_inverse(cx, cr_cmat_of(L, D, D), cr_mat_of(A, D, D)));
    memcpy(L, A, D * D * sizeof(double));
    CR_TRY(cr_chol(cx, cr_mat_of(L, D, D)));
    *out_log_det = cr_chol_logdet(cr_cmat_of(L, D, D));
done:
    return st;
}

/* One part: the modes of the nodes, whose share of the covariance is still missing. */
static cr_status close_single(cri_alpha_search *w, double *A, cri_alpha_average *a)
{
    size_t D = a->D;
    for (size_t k = 0; k < a->nodes; k++)
        for (size_t i = 0; i < D; i++)
            for (size_t j = 0; j < D; j++)
                a->covariance[i * D + j] += exp(a->log_share[k]) *
                                            (a->mode[k * D + i] - a->centre[i]) *
                                            (a->mode[k * D + j] - a->centre[j]);
    a->share[0] = 1;
    return invert(w->cx, a->covariance, D, A, a->L, a->log_det);
}

static cr_status make_room(cri_alpha_search *w, cr_scratch *arena, size_t nodes,
                           cri_alpha_average *a)
{
    const cri_classifier_rows *x = w->f->x;
    size_t                     D = w->s->D;
    *a = (cri_alpha_average){ .nodes = nodes, .D = D, .q = x->q };
    a->held = x->intercept && !w->shared;
    a->slopes = a->held ? w->f->M * x->p : D;
    a->parts = nodes * D * D <= MOST_KEPT ? nodes : 1;
    a->alpha = cr_scratch_f64(arena, nodes);
    a->log_prior = cr_scratch_f64(arena, nodes);
    a->log_share = cr_scratch_f64(arena, nodes);
    a->mode = cr_scratch_matrix(arena, nodes, D);
    a->share = cr_scratch_f64(arena, a->parts);
    a->centre = cr_scratch_matrix(arena, a->parts, D);
    a->covariance = cr_scratch_matrix(arena, a->parts * D, D);
    a->L = cr_scratch_matrix(arena, a->parts * D, D);
    a->log_det = cr_scratch_f64(arena, a->parts);
    if (arena->status != CR_OK) return arena->status;
    memset(a->centre, 0, a->parts * D * sizeof(double));
    memset(a->covariance, 0, a->parts * D * D * sizeof(double));
    return CR_OK;
}

cr_status cri_alpha_average_new(cri_alpha_search *w, cr_scratch *arena, cri_alpha_average *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(w->cx);
    size_t     D = w->s->D, n = 1;
    cri_node  *kept = cr_scratch_bytes(&s, CRI_MOST_NODES, sizeof(cri_node));
    double    *inverse = cr_scratch_matrix(&s, D, D), signal = 0, unit, step = 1, total = 0;

    CR_TRY(s.status);
    CR_TRY(find_signal(w, inverse, &signal));
    bool any = signal > 0; /* else nothing depends on alpha */
    unit = any ? signal * (w->f->M > 1 ? 2 : 1) * 3 / (M_PI * M_PI) : 1;
    kept[0] = (cri_node){ 0 };
    if (any) CR_TRY(find_nodes(w, &s, unit, kept, &n, &step, &total));
    CR_TRY(make_room(w, arena, n, out));
    for (size_t k = 0; k < n; k++) {
        out->alpha[k] = unit * exp(kept[k].x);
        out->log_prior[k] = any ? log_hyper_prior(kept[k].x) + log(step) : 0;
        out->log_share[k] = kept[k].log_density;
    }
    set_shares(out);
    for (size_t k = 0; k < n; k++) {
        CR_TRY(cri_alpha_at(w, out->alpha[k]));
        CR_TRY(add_part(w, k, inverse, out));
    }
    if (out->parts < n) CR_TRY(close_single(w, inverse, out));
    CR_TRY(cri_alpha_at(w, out->alpha[out->top]));
    out->log_evidence = any ? total : w->log_evidence;
done:
    cr_scratch_end(&s);
    return st;
}

/* The normal of the best bound at node k, from Laplace's, in theta and covariance; *out_bound its bound. */
static cr_status bound_at(cri_alpha_search *w, const cri_alpha_average *a, size_t k, double *theta,
                          double *covariance, double *A, double *out_bound, size_t *rounds)
{
    cr_status          st = CR_OK;
    size_t             D = a->D, part = a->parts == a->nodes ? k : 0, more = 0;
    cri_bayes_logistic one = { .mode = theta, .covariance = covariance };
    w->f->l2 = a->alpha[k];
    if (w->shared) w->f->intercept_l2 = a->alpha[k];
    memcpy(theta, a->mode + k * D, D * sizeof(double));
    memcpy(covariance, a->covariance + part * D * D, D * D * sizeof(double));
    CR_TRY(cri_bayes_logistic_bound(w->cx, w->f, 0, NULL, A, &one, &more));
    *out_bound = one.log_evidence;
    *rounds += more;
done:
    return st;
}

/* One part: the moments of the normals of all nodes, now that their shares are known. */
static cr_status bound_single(cri_alpha_search *w, double *theta, double *covariance, double *A,
                              cri_alpha_average *a, size_t *rounds)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(w->cx);
    size_t     D = a->D;
    double    *sum = cr_scratch_matrix(&s, D, D), bound;
    CR_TRY(s.status);
    memset(sum, 0, D * D * sizeof(double));
    memset(a->centre, 0, D * sizeof(double));
    for (size_t k = 0; k < a->nodes; k++) {
        CR_TRY(bound_at(w, a, k, theta, covariance, A, &bound, rounds));
        memcpy(a->mode + k * D, theta, D * sizeof(double));
        for (size_t i = 0; i < D; i++) a->centre[i] += exp(a->log_share[k]) * theta[i];
        for (size_t i = 0; i < D * D; i++) sum[i] += exp(a->log_share[k]) * covariance[i];
    }
    memcpy(a->covariance, sum, D * D * sizeof(double));
    CR_TRY(close_single(w, A, a));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_alpha_average_bound(cri_alpha_search *w, cri_alpha_average *a, size_t *out_rounds)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(w->cx);
    size_t     D = a->D;
    double    *A = cr_scratch_matrix(&s, D, D), *theta = cr_scratch_f64(&s, D);
    double    *covariance = cr_scratch_matrix(&s, D, D), bound;
    double     alpha = w->f->l2, own = w->f->intercept_l2;

    CR_TRY(s.status);
    *out_rounds = 0;
    for (size_t k = 0; k < a->nodes; k++) {
        CR_TRY(bound_at(w, a, k, theta, covariance, A, &bound, out_rounds));
        a->log_share[k] = a->log_prior[k] + bound;
        if (a->parts < a->nodes) continue;
        memcpy(a->centre + k * D, theta, D * sizeof(double));
        memcpy(a->covariance + k * D * D, covariance, D * D * sizeof(double));
        CR_TRY(invert(w->cx, covariance, D, A, a->L + k * D * D, &a->log_det[k]));
    }
    a->log_evidence = cr_logsumexp(a->log_share, a->nodes);
    set_shares(a);
    if (a->parts < a->nodes) CR_TRY(bound_single(w, theta, covariance, A, a, out_rounds));
done:
    w->f->l2 = alpha, w->f->intercept_l2 = own;
    cr_scratch_end(&s);
    return st;
}

cr_status cri_alpha_average_moments(cr_ctx *cx, const cri_alpha_average *a, double *mean,
                                    double *covariance, double *A)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     D = a->D;
    double    *L = cr_scratch_matrix(&s, D, D), log_det;

    CR_TRY(s.status);
    memset(mean, 0, D * sizeof(double));
    memset(covariance, 0, D * D * sizeof(double));
    for (size_t k = 0; k < a->parts; k++)
        for (size_t i = 0; i < D; i++) mean[i] += a->share[k] * a->centre[k * D + i];
    for (size_t k = 0; k < a->parts; k++)
        for (size_t i = 0; i < D; i++)
            for (size_t j = 0; j < D; j++)
                covariance[i * D + j] += a->share[k] * (a->covariance[(k * D + i) * D + j] +
                                                        (a->centre[k * D + i] - mean[i]) *
                                                            (a->centre[k * D + j] - mean[j]));
    CR_TRY(invert(cx, covariance, D, A, L, &log_det));
done:
    cr_scratch_end(&s);
    return st;
}

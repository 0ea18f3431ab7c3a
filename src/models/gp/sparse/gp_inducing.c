/* gp_inducing.c -- where the inducing inputs are: chosen from the data, and moved by the bound. */
#include "models/gp/search/gp_optimiser.h"
#include "gp_sparse.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { ROWS = 512, STEPS = 8 };

/* --- choice ---------------------------------------------------------------------------------- */

typedef struct clusters {
    const cri_gp_data *data;
    size_t             m;
    double            *scale;    /* [d] what a column is divided by             */
    double            *centre;   /* [m x d]                                     */
    uint32_t          *codes;    /* [m x c]                                     */
    double            *distance; /* [n] to the nearest centre                   */
    size_t            *nearest;  /* [n]                                         */
    size_t             newest;   /* the centre that distances are compared with */
} clusters;

static double distance_to(const clusters *c, size_t i, size_t k)
{
    const cri_gp_data *a = c->data;
    double             t = 0;
    for (size_t j = 0; j < a->d; j++) {
        double u = (a->X[i * a->d + j] - c->centre[k * a->d + j]) / c->scale[j];
        t += u * u;
    }
    for (size_t j = 0; j < a->c; j++) t += a->codes[i * a->c + j] != c->codes[k * a->c + j];
    return t;
}

static void compare_newest(void *arg, size_t b)
{
    clusters *c = arg;
    cri_range r = cri_block_range(c->data->n, ROWS, b);
    for (size_t i = r.begin; i < r.end; i++) {
        double t = distance_to(c, i, c->newest);
        if (t < c->distance[i]) c->distance[i] = t, c->nearest[i] = c->newest;
    }
}

static void find_nearest(void *arg, size_t b)
{
    clusters *c = arg;
    cri_range r = cri_block_range(c->data->n, ROWS, b);
    for (size_t i = r.begin; i < r.end; i++) {
        c->distance[i] = INFINITY;
        for (size_t k = 0; k < c->m; k++) {
            double t = distance_to(c, i, k);
            if (t < c->distance[i]) c->distance[i] = t, c->nearest[i] = k;
        }
    }
}

/* k-means++: each next centre a row drawn in proportion to its squared distance. */
static cr_status seed_centres(cr_ctx *cx, clusters *c, uint64_t seed)
{
    cr_status          st = CR_OK;
    const cri_gp_data *a = c->data;
    cr_rng             rng = cr_rng_stream(seed, 7);
    size_t             row = (size_t)cr_rng_below(&rng, a->n);
    for (size_t i = 0; i < a->n; i++) c->distance[i] = INFINITY;
    for (size_t k = 0; k < c->m; k++) {
        for (size_t j = 0; j < a->d; j++) c->centre[k * a->d + j] = a->X[row * a->d + j];
        for (size_t j = 0; j < a->c; j++) c->codes[k * a->c + j] = a->codes[row * a->c + j];
        c->newest = k;
        CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(a->n, ROWS), compare_newest, c));
        double total = 0;
        for (size_t i = 0; i < a->n; i++) total += c->distance[i];
        double u = cr_rng_uniform(&rng) * total, sum = 0;
        for (row = 0; row + 1 < a->n && (sum += c->distance[row]) <= u;) row++;
        while (row > 0 && !(c->distance[row] > 0))
            row--; /* never one twice, while there are others */
    }
done:
    return st;
}

/* Centres to the means of their rows; one without rows stays. */
static cr_status move_centres(cr_ctx *cx, clusters *c)
{
    cr_status          st = CR_OK;
    cr_scratch         s = cr_scratch_begin(cx);
    const cri_gp_data *a = c->data;
    double            *sum = cr_scratch_matrix(&s, c->m, a->d), *count = cr_scratch_f64(&s, c->m);

    CR_TRY(s.status);
    memset(sum, 0, c->m * a->d * sizeof *sum);
    memset(count, 0, c->m * sizeof *count);
    for (size_t i = 0; i < a->n; i++) {
        size_t k = c->nearest[i];
        count[k]++;
        for (size_t j = 0; j < a->d; j++) sum[k * a->d + j] += a->X[i * a->d + j];
    }
    for (size_t k = 0; k < c->m; k++)
        for (size_t j = 0; count[k] > 0 && j < a->d; j++)
            c->centre[k * a->d + j] = sum[k * a->d + j] / count[k];
done:
    cr_scratch_end(&s);
    return st;
}

/* One of each input; equal ones, of data that are not merged, follow each other. */
static cr_status take_different(cr_scratch *s, const cri_gp_data *data, cri_gp_data *out)
{
    size_t *which = cr_scratch_index(s, data->n), n = 0, d = data->d, c = data->c;
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < data->n; i++) {
        size_t last = i ? which[n - 1] : 0;
        if (i == 0 || memcmp(data->X + i * d, data->X + last * d, d * sizeof(double)) != 0 ||
            memcmp(data->codes + i * c, data->codes + last * c, c * sizeof(uint32_t)) != 0)
            which[n++] = i;
    }
    return cri_gp_data_pick(s, data, which, n, out);
}

cr_status cri_gp_inducing(cr_ctx *cx, const cri_gp_data *data, size_t m, uint64_t seed,
                          cri_gp_data *out_Z)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    cri_gp_data Z = { 0 }, from = *data;

    if (m >= data->n) {
        st = cri_gp_data_copy(cx, data, out_Z);
        goto done;
    }
    if (data->w) CR_TRY(take_different(&s, data, &from));
    if (m > from.n) m = from.n;
    CR_TRY(cri_gp_data_draw(cx, data, m, seed, &Z)); /* for its memory */
    clusters c = { .data = &from,
                   .m = m,
                   .scale = cr_scratch_f64(&s, from.d),
                   .centre = Z.X,
                   .codes = Z.codes,
                   .distance = cr_scratch_f64(&s, from.n),
                   .nearest = cr_scratch_index(&s, from.n) };
    CR_TRY(s.status);
    cri_gp_data_sds(&from, c.scale);
    CR_TRY(seed_centres(cx, &c, seed));
    for (int step = 0; step < STEPS && from.c == 0; step++) {
        CR_TRY(move_centres(cx, &c));
        CR_TRY(cri_parallel_for(cx, NULL, cri_block_count(from.n, ROWS), find_nearest, &c));
    }
    *out_Z = Z;
    Z = (cri_gp_data){ 0 };
done:
    cri_gp_data_free(cx, &Z);
    cr_scratch_end(&s);
    return st;
}

/* --- moving them ----------------------------------------------------------------------------- */

/* x = theta, log noise where it is learned, then Z / scale. */
typedef struct joint {
    cr_ctx                *cx;
    const cri_gp_learning *learning;
    cri_gp_sparse         *sparse;
    cr_kernel             *k;
    double                 noise;
    size_t                 p, at; /* theta; where Z begins */
    double                *scale, *gradient, *dZ;
} joint;

static cr_status take(joint *g, const double *x)
{
    cr_status st = cr_kernel_set_theta(g->cx, g->k, x);
    size_t    d = g->sparse->Z.d;
    if (g->learning->learn_noise) g->noise = exp(x[g->p]);
    for (size_t i = 0; i < g->sparse->Z.n * d; i++)
        g->sparse->Z.X[i] = x[g->at + i] * g->scale[i % d];
    return st;
}

static cr_status objective(void *user, const double *x, size_t n, double *out_f,
                           double *opt_gradient)
{
    joint    *g = user;
    cr_status st = take(g, x);
    (void)n;
    if (st == CR_OK)
        st = cri_gp_sparse_solve(g->cx, g->learning->problem, g->k, g->noise, g->sparse,
                                 opt_gradient ? g->gradient : NULL, opt_gradient ? g->dZ : NULL);
    if (st != CR_OK) return st;
    *out_f = -g->sparse->value -
             cri_gp_log_prior(g->learning->prior, g->k, x, opt_gradient ? g->gradient : NULL);
    size_t d = g->sparse->Z.d;
    for (size_t j = 0; opt_gradient && j < g->at; j++) opt_gradient[j] = -g->gradient[j];
    for (size_t i = 0; opt_gradient && i < g->sparse->Z.n * d; i++)
        opt_gradient[g->at + i] = -g->dZ[i] * g->scale[i % d];
    return CR_OK;
}

/* Start number k: what was learned with the inputs where they are; data-driven units with much
 * noise there; and, on request, random hyper-parameters with inputs spread anew. */
static cr_status set_start(const joint *g, const cri_gp_space *u, size_t k, double *x)
{
    cr_status     st = CR_OK;
    size_t        d = g->sparse->Z.d;
    cri_gp_data   Z = { 0 };
    const double *X = g->sparse->Z.X;
    cr_kernel_theta(g->k, x);
    if (g->learning->learn_noise) x[g->p] = log(g->noise);
    if (k == 1) cri_gp_start(u, 1, 0.5, x);
    if (k > 1) {
        CR_TRY(cri_gp_inducing(g->cx, g->learning->problem->data, g->sparse->Z.n,
                               g->learning->seed + k, &Z));
        cri_gp_start_random(u, g->learning->seed, k, x);
        X = Z.X;
    }
    for (size_t i = 0; i < g->sparse->Z.n * d; i++) x[g->at + i] = X[i] / g->scale[i % d];
done:
    cri_gp_data_free(g->cx, &Z);
    return st;
}

/* Uphill from each start [starts x size]; the best ends in row 0. */
static cr_status ascend_all(joint *g, const cr_problem *problem, double *x, size_t starts,
                            cri_gp_learned *learned)
{
    cr_status           st = CR_OK;
    size_t              size = problem->n;
    double              best = -INFINITY;
    cr_minimize_options o = cr_minimize_defaults();
    o.max_iter = g->learning->max_iter;
    o.f_tolerance = 1e-9;
    for (size_t k = 0; k < starts; k++) {
        cr_minimize_report report;
        cri_progress_part(g->cx, (double)k / (double)starts);
        st = cr_minimize(g->cx, problem, &o, x + k * size, &report);
        if (st == CR_ENUMERIC && k > 0)
            st = CR_OK, report.f = INFINITY; /* a start that led nowhere */
        CR_TRY(st);
        learned->evaluations += report.f_evaluations;
        if (!(-report.f > best)) continue;
        best = learned->value = -report.f;
        learned->iterations = report.iterations;
        learned->stop = cri_gp_stop(&report);
        if (k > 0) memcpy(x, x + k * size, size * sizeof *x);
    }
done:
    return st;
}

cr_status cri_gp_learn_inducing(cr_ctx *cx, const cri_gp_learning *learning, cri_gp_sparse *sparse,
                                cr_kernel *k, double *noise, cri_gp_learned *learned)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = cr_kernel_theta_size(k), d = sparse->Z.d, inputs = sparse->Z.n * d;
    size_t     at = p + learning->learn_noise, size = at + inputs, starts = 2 + learning->restarts;
    cri_gp_space u;
    joint        g = { .cx = cx,
                       .learning = learning,
                       .sparse = sparse,
                       .k = k,
                       .noise = *noise,
                       .p = p,
                       .at = at,
                       .scale = cr_scratch_f64(&s, d),
                       .gradient = cr_scratch_f64(&s, p + 1),
                       .dZ = cr_scratch_f64(&s, inputs) };
    double      *x = cr_scratch_matrix(&s, starts, size), *lower = cr_scratch_f64(&s, size);
    double      *upper = cr_scratch_f64(&s, size);
    cr_problem   problem = {
          .n = size, .objective = objective, .lower = lower, .upper = upper, .user = &g
    };

    CR_TRY(s.status);
    CR_TRY(cri_gp_space_new(&s, k, learning->problem, learning->variance, *noise,
                            learning->learn_noise, &u));
    cri_gp_data_sds(learning->problem->data, g.scale);
    for (size_t i = 0; i < size; i++) lower[i] = -INFINITY, upper[i] = INFINITY;
    memcpy(lower, u.lower, at * sizeof *lower);
    memcpy(upper, u.upper, at * sizeof *upper);
    for (size_t i = 0; i < starts; i++) CR_TRY(set_start(&g, &u, i, x + i * size));
    CR_TRY(ascend_all(&g, &problem, x, starts, learned));
    CR_TRY(take(&g, x));
    *noise = g.noise;
done:
    cr_scratch_end(&s);
    return st;
}

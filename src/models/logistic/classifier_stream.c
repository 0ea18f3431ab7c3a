/* classifier_stream.c -- a linear classifier from a stream of rows, in one pass.
 * Few coefficients: rows are held and folded (classifier_renew.c).  Many: the first block is fitted
 * to its minimum.  Each further one is judged first (its likelihood and gradient at the mean so far
 * are of rows that nothing was learned from), then gone through once, in an order drawn for it, by
 * averaged stochastic gradients (sgd.h); the first block counts as that many steps at its minimum.
 * The penalty of a row is lambda over the rows seen. Polyak & Juditsky (1992), SIAM J. Control
 * Optim. 30; Bach & Moulines (2011), NIPS 24. */
#include "classifier_stream.h"
#include "sgd.h"
#include "base/rng.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

static cr_status check_classes(cr_ctx *cx, const cri_classifier *m, const cri_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        size_t k = (size_t)rows->y[i];
        if (m->place[k] >= 0 || (rows->w && !(rows->w[i] > 0))) continue;
        cr_fail(cx, CR_EDATA, "the class '%s' of '%s' is not in the first block of the stream",
                cr_design_class(rows->design, k), cr_design_target(rows->design));
        return cr_fail_hint(cx, "shuffle the rows, or take a larger --block");
    }
    return CR_OK;
}

/* The block at the mean so far: *out_z is the largest entry of the gradient over its standard
 * deviation, which is the root of the diagonal of the Hessian. */
static cr_status judge(cr_ctx *cx, const cri_likelihood *f, cri_classifier *m)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    size_t               D = m->M * m->q;
    double              *diagonal = cr_scratch_f64(&s, D), worst = 0, largest = 0;
    cri_likelihood       plain = *f;
    cri_likelihood_value v = { .gradient = cr_scratch_f64(&s, D),
                               .curvature = cr_scratch_matrix(&s, f->x->n, m->M) };
    CR_TRY(s.status);
    plain.l2 = 0;
    CR_TRY(cri_likelihood_at(cx, &plain, m->theta, &v));
    CR_TRY(cri_likelihood_diagonal(cx, &plain, v.curvature, diagonal));
    for (size_t a = 0; a < D; a++) {
        double pull = a % m->q < m->intercept ? 0 : f->l2 * f->x->weight / m->weight * m->theta[a];
        double g = fabs(v.gradient[a] + pull);
        largest = fmax(largest, g / f->x->weight);
        if (diagonal[a] > 0) worst = fmax(worst, g / sqrt(diagonal[a]));
    }
    m->nll += v.nll;
    m->kkt = largest;
    m->gradient_z = worst;
done:
    cr_scratch_end(&s);
    return st;
}

/* Goes through the rows once; s has theta and mean of before. */
static cr_status pass(cr_ctx *cx, const cri_likelihood *f, uint64_t seed, cri_sgd *s)
{
    cr_status                  st = CR_OK;
    cr_scratch                 workspace = cr_scratch_begin(cx);
    const cri_classifier_rows *x = f->x;
    size_t                    *order = cr_scratch_index(&workspace, x->n);
    double                    *Z = cr_scratch_matrix(&workspace, s->batch + 1, x->q);
    double                    *w = cr_scratch_f64(&workspace, s->batch);
    uint32_t                  *y = cr_scratch_bytes(&workspace, s->batch, sizeof *y);
    cr_rng                     r = cr_rng_stream(seed, s->steps);

    CR_TRY(workspace.status);
    cr_rng_permutation(&r, x->n, order);
    for (size_t begin = 0; begin < x->n; begin += s->batch) {
        size_t count = x->n - begin < s->batch ? x->n - begin : s->batch;
        for (size_t i = 0; i < count; i++) {
            size_t row = order[begin + i];
            memcpy(Z + i * x->q, cri_classifier_rows_one(x, row, Z + s->batch * x->q),
                   x->q * sizeof(double));
            y[i] = f->y[row];
            w[i] = x->w ? x->w[row] : 1;
        }
        cri_sgd_block(s, f, Z, y, w, count);
        if (begin % 4096 < s->batch) CR_TRY(cr_check_interrupt(cx));
    }
done:
    cr_scratch_end(&workspace);
    return st;
}

static cr_status learn(cr_ctx *cx, const cri_likelihood *f, const cri_classifier_settings *o,
                       cri_classifier *m)
{
    cr_status st = CR_OK;
    cri_sgd   s = { 0 };
    size_t    D = m->M * m->q;
    double   *z = cr_alloc(cx, m->q, sizeof(double));

    if (!z) CR_TRY(CR_ENOMEM);
    CR_TRY(cri_sgd_new(cx, m->M, m->q, &s));
    s.batch = o->solve.batch < f->x->n ? o->solve.batch : f->x->n;
    if (m->steps == 0) {
        m->steps = (size_t)(m->weight / (double)s.batch) + 1;
        m->rate = cri_sgd_rate(f, s.batch, z);
    }
    s.steps = m->steps;
    s.rate = m->rate;
    s.decay = 100;
    s.power = 0.5;
    s.rows = m->weight + f->x->weight;
    memcpy(s.theta, m->last, D * sizeof(double));
    memcpy(s.mean, m->theta, D * sizeof(double));
    CR_TRY(pass(cx, f, o->solve.seed, &s));
    memcpy(m->last, s.theta, D * sizeof(double));
    memcpy(m->theta, s.mean, D * sizeof(double));
    m->steps = s.steps;
    m->weight = s.rows;
done:
    cri_sgd_free(cx, &s);
    cr_free(cx, z, m->q, sizeof(double));
    return st;
}

/* The objective and what else is said of a stream; the reports follow. */
static void conclude(const cri_classifier_settings *o, bool converged, cri_classifier *m,
                     cr_report *report)
{
    enum { NEAR = 6 }; /* a gradient of so many of its standard deviations may be chance */
    double squares = 0;
    for (size_t a = 0; a < m->M * m->q; a++)
        if (a % m->q >= m->intercept) squares += m->theta[a] * m->theta[a];
    m->objective = m->nll + o->lambda / 2 * squares;
    m->null_nll = NAN;
    m->separation = CRI_NOT_SEPARATED;
    report->stop = converged && m->gradient_z <= NEAR ? CR_STOP_TOLERANCE : CR_STOP_LIMIT;
    report->iterations = m->steps;
    report->log_likelihood = -m->nll;
}

/* The rows that m holds are learned from; after the last of the stream nothing is held back. */
static cr_status renew(cr_ctx *cx, const cr_design *design, const cri_classifier_settings *o,
                       bool last, cri_classifier *m, cr_report *report)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    cri_classifier_rows x;
    uint32_t           *y;
    bool                converged = true;

    cri_classifier_settings exact = *o;
    exact.solve.solver = CRI_SOLVER_NEWTON;
    CR_TRY(cri_classifier_held(&s, m, &x, &y));
    if (last && m->folds == 0) { /* all rows are at hand */
        m->weight = x.weight;
        m->steps = 0;
        m->rate = m->gradient_z = 0;
        cr_free(cx, m->last, m->M, m->q * sizeof(double));
        m->last = NULL;
        CR_TRY(cri_classifier_solve(cx, design, &x, y, &exact, m, report));
    } else {
        cri_likelihood f = {
            .x = &x, .y = y, .M = m->M, .link = o->link, .l2 = o->lambda, .full = m->full, .step = 1
        };
        bool first = m->folds == 0;
        if (!first && x.n > 0) CR_TRY(judge(cx, &f, m));
        if (x.n > 0) CR_TRY(cri_classifier_fold(cx, &f, o->lambda, m, &converged));
        if (first) {
            cri_likelihood_value v = { 0 };
            f.l2 = 0;
            CR_TRY(cri_likelihood_at(cx, &f, m->theta, &v));
            m->nll = v.nll;
        }
        if (last) CR_TRY(cri_classifier_settle(cx, &f, o->lambda, m));
        m->tests = m->information = o->lambda == 0;
        m->solver = CRI_SOLVER_NEWTON;
        conclude(o, converged, m, report);
    }
    cri_classifier_release(cx, m);
    if (last) cri_classifier_forget(cx, m);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_classifier_advance(cr_ctx *cx, const void *old, const cri_rows *rows,
                                 const cri_classifier_settings *o, void **out_state,
                                 cr_report *report)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    uint32_t           *y = cr_scratch_bytes(&s, rows->n, sizeof *y);
    cri_classifier      m = { 0 };
    cri_classifier_rows x = { 0 };
    bool holds = ((const cri_classifier *)old)->held > 0 || ((const cri_classifier *)old)->past;

    CR_TRY(s.status);
    CR_TRY(check_classes(cx, old, rows));
    CR_TRY(cri_classifier_copy(cx, old, &m));
    CR_TRY(cri_classifier_rows_scaled(cx, rows, m.intercept, m.centre, m.scale, &x));
    cri_classifier_targets(rows, m.place, y);
    if (holds) {
        CR_TRY(cri_classifier_hold(cx, old, &x, y, &m));
        if (!rows->more || cri_classifier_is_full(&m))
            CR_TRY(renew(cx, rows->design, o, !rows->more, &m, report));
    } else {
        cri_likelihood f = {
            .x = &x, .y = y, .M = m.M, .link = o->link, .l2 = o->lambda, .full = m.full, .step = 1
        };
        if (x.n > 0) { /* the last block may have none */
            CR_TRY(judge(cx, &f, &m));
            CR_TRY(learn(cx, &f, o, &m));
        }
        m.tests = m.information = false;
        m.solver = CRI_SOLVER_SGD;
        conclude(o, true, &m, report);
    }
    CR_TRY(cri_classifier_keep(cx, &m, out_state));
done:
    cri_classifier_clear(cx, &m);
    cri_classifier_rows_free(cx, &x);
    cr_scratch_end(&s);
    return st;
}

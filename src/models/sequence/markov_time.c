/* markov_time.c -- the generator of a chain in continuous time by EM, and how well it is known. */
#include "markov_time.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/dense/chol.h"
#include "stationary.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* --- EM -------------------------------------------------------------------------------------- */

typedef struct search {
    size_t                 k;
    double                 alpha, beta; /* of the prior */
    cri_markov_expectation e;           /* at the generator that was looked at last */
} search;

static cr_status expect(cr_ctx *cx, search *f, const double *Q)
{
    return cri_markov_expect(cx, &f->e, Q);
}

static double G_of(const search *f, size_t a, size_t b) { return cri_markov_expected(&f->e, a, b); }

/* The log posterior of log q at the last expectation, but for a constant. */
static double objective_of(const search *f)
{
    double sum = f->e.sums[0];
    for (size_t a = 0; a < f->k; a++)
        for (size_t b = 0; b < f->k; b++) {
            double q = f->e.Q[a * f->k + b];
            if (a != b && f->alpha > 0) sum += f->alpha * log(q) - f->beta * q;
        }
    return sum;
}

static void close_rows(double *Q, size_t k)
{
    for (size_t a = 0; a < k; a++) {
        double sum = 0;
        for (size_t b = 0; b < k; b++) sum += a == b ? 0 : Q[a * k + b];
        Q[a * k + a] = -sum;
    }
}

static void maximise(const search *f, double *out)
{
    size_t k = f->k;
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++) {
            double time = G_of(f, a, a) + f->beta;
            double jumps = f->e.Q[a * k + b] * G_of(f, a, b) + f->alpha;
            if (a != b) out[a * k + b] = time > 0 ? fmax(jumps / time, DBL_MIN) : DBL_MIN;
        }
    close_rows(out, k);
}

/* Where two steps lead when they are gone on with (Varadhan & Roland 2008, Scandinavian Journal of Statistics 35, S3), in
 * log q. */
static void extrapolate(const double *Q0, const double *Q1, const double *Q2, size_t k, double *out)
{
    double rr = 0, vv = 0;
    for (size_t c = 0; c < k * k; c++) {
        if (c % (k + 1) == 0) continue;
        double r = log(Q1[c] / Q0[c]), v = log(Q2[c] / Q1[c]) - r;
        rr += r * r, vv += v * v;
    }
    double length = vv > 0 ? fmax(sqrt(rr / vv), 1) : 1;
    for (size_t c = 0; c < k * k; c++) {
        if (c % (k + 1) == 0) continue;
        double r = log(Q1[c] / Q0[c]), v = log(Q2[c] / Q1[c]) - r;
        double move = fmin(fmax(2 * length * r + length * length * v, -30), 30);
        out[c] = fmax(Q0[c] * exp(move), DBL_MIN);
    }
    close_rows(out, k);
}

/* Rates as if no symbol had been left and come back to between two rows. */
static void start(const search *f, double *Q)
{
    size_t k = f->k;
    double beta = f->beta > 0 ? f->beta : f->e.g->time / f->e.g->pairs;
    double alpha = f->alpha > 0 ? f->alpha : 0.1;
    for (size_t a = 0; a < k; a++) {
        double time = beta, *row = Q + a * k;
        for (size_t b = 0; b < k; b++) row[b] = alpha;
        for (size_t i = 0; i < f->e.g->n; i++)
            for (size_t c = f->e.g->start[i]; c < f->e.g->start[i + 1]; c++) {
                if (f->e.g->cell[c] / k != a) continue;
                time += f->e.g->count[c] * f->e.g->gap[i];
                row[f->e.g->cell[c] % k] += f->e.g->count[c];
            }
        for (size_t b = 0; b < k; b++) row[b] /= time;
    }
    close_rows(Q, k);
}

/* Leaves Q at the best that was found, and f at its expectation. */
static cr_status climb(cr_ctx *cx, search *f, const cri_markov_time_settings *o, double *Q,
                       cr_report *report)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     kk = f->k * f->k, size = kk * sizeof *Q;
    double    *Q1 = cr_scratch_f64(&s, kk), *Q2 = cr_scratch_f64(&s, kk);
    double    *far = cr_scratch_f64(&s, kk);
    double     least = o->tol * f->e.g->pairs, now, next;
    cri_clock  clock = cri_clock_start(cx, NAN);
    CR_TRY(s.status);
    report->stop = CR_STOP_LIMIT;
    CR_TRY(expect(cx, f, Q));
    now = objective_of(f);
    for (report->iterations = 0; report->iterations < o->max_iter; report->iterations++) {
        if (cri_clock_over(&clock)) {
            report->stop = CR_STOP_TIME;
            break;
        }
        maximise(f, Q1);
        CR_TRY(expect(cx, f, Q1));
        next = objective_of(f);
        if (next - now <= least) {
            report->stop = CR_STOP_TOLERANCE;
            if (next >= now) memcpy(Q, Q1, size);
            break;
        }
        maximise(f, Q2);
        extrapolate(Q, Q1, Q2, f->k, far);
        CR_TRY(expect(cx, f, far));
        now = objective_of(f);
        if (now >= next) {
            memcpy(Q, far, size);
        } else { /* too far */
            memcpy(Q, Q2, size);
            CR_TRY(expect(cx, f, Q));
            now = objective_of(f);
        }
    }
    CR_TRY(expect(cx, f, Q));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- errors ---------------------------------------------------------------------------------- */

/* The derivatives of the objective by the log q, at the last expectation: out [k (k - 1)]. */
static void gradient_of(const search *f, double *out)
{
    size_t k = f->k;
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++) {
            double q = f->e.Q[a * k + b];
            if (a != b) *out++ = q * (G_of(f, a, b) - G_of(f, a, a)) + f->alpha - f->beta * q;
        }
}

/* The generator whose log q number i is moved by `step`. */
static void move(const double *Q, size_t k, size_t i, double step, double *out)
{
    size_t a = i / (k - 1), b = i % (k - 1);
    memcpy(out, Q, k * k * sizeof *out);
    out[a * k + (b < a ? b : b + 1)] *= exp(step);
    close_rows(out, k);
}

static const double MOST_WORK = 1e11; /* operations of the observed information, some minutes */

static double work_of_covariance(const search *f)
{
    double k = (double)f->k, cube = k * k * k;
    double step =
        f->e.summed ? 150 * (double)f->e.g->cells + 1000 * cube : 200 * cube * (double)f->e.g->n;
    return 2 * k * k * step + cube * cube;
}

/* The covariance of the log q by the observed information: C [n x n], n = k (k - 1).  *out_known is false where the
 * information is not positive definite, or would take too long. */
static cr_status find_covariance(cr_ctx *cx, search *f, const double *Q, double *C, bool *out_known)
{
    static const double STEP = 1e-4;
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    size_t              k = f->k, n = k * (k - 1);
    double             *up = cr_scratch_f64(&s, n), *down = cr_scratch_f64(&s, n);
    double             *moved = cr_scratch_matrix(&s, k, k), *I = cr_scratch_matrix(&s, n, n);
    cri_clock           clock = cri_clock_start(cx, NAN);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        if (cri_clock_over(&clock)) goto done;
        move(Q, k, i, STEP, moved);
        CR_TRY(expect(cx, f, moved));
        gradient_of(f, up);
        move(Q, k, i, -STEP, moved);
        CR_TRY(expect(cx, f, moved));
        gradient_of(f, down);
        for (size_t j = 0; j < n; j++) I[i * n + j] = (down[j] - up[j]) / (2 * STEP);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            I[i * n + j] = I[j * n + i] = (I[i * n + j] + I[j * n + i]) / 2;
    st = cr_chol(cx, cr_mat_of(I, n, n));
    *out_known = st == CR_OK;
    if (st == CR_ENUMERIC) st = CR_OK; /* flat in some direction: that is an answer */
    CR_TRY(st);
    if (*out_known) CR_TRY(cr_chol_inverse(cx, cr_const(cr_mat_of(I, n, n)), cr_mat_of(C, n, n)));
done:
    cr_scratch_end(&s);
    return st;
}

static double sd_of(const double *slope, const double *C, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) sum += slope[i] * C[i * n + j] * slope[j];
    return sqrt(fmax(sum, 0));
}

static const double LEAST_KNOWN = 1e4; /* variance of log q from which nothing is known of it */

/* sds of the rates, of the times until a symbol is left, and of the long run, whose intervals are those of its logit. */
static cr_status set_errors(cr_ctx *cx, const double *C, cri_markov *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = m->k, n = k * (k - 1);
    double    *slope = cr_scratch_f64(&s, n), *moved = cr_scratch_matrix(&s, k, k);
    double    *up = cr_scratch_matrix(&s, n, k), *pi = cr_scratch_f64(&s, k);
    double    *work = cr_scratch_matrix(&s, k, k);
    size_t    *index = cr_scratch_index(&s, 6 * k);
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) {
        size_t a = i / (k - 1), b = i % (k - 1) + (i % (k - 1) >= a);
        if (C[i * n + i] < LEAST_KNOWN) /* else it is 0, or as good as that */
            m->rate_sd[a * k + b] = m->rate[a * k + b] * sqrt(C[i * n + i]);
        for (int side = 0; side < 2; side++) {
            move(m->rate, k, i, side ? 1e-5 : -1e-5, moved);
            cri_stationary(moved, k, work, index, pi);
            for (size_t c = 0; c < k; c++)
                up[i * k + c] = side ? (pi[c] - up[i * k + c]) / 2e-5 : pi[c];
        }
    }
    for (size_t a = 0; a < k; a++) {
        double leave = -m->rate[a * k + a], p = m->stationary[a];
        for (size_t i = 0; i < n; i++) {
            size_t b = i % (k - 1) + (i % (k - 1) >= a);
            slope[i] = i / (k - 1) == a ? m->rate[a * k + b] / (leave * leave) : 0;
        }
        m->holding_sd[a] = sd_of(slope, C, n);
        for (size_t i = 0; i < n; i++) slope[i] = up[i * k + a];
        m->stationary_sd[a] = sd_of(slope, C, n);
        double logit = log(p / (1 - p)),
               wide = 1.959963984540054 * m->stationary_sd[a] / (p * (1 - p));
        m->stationary_lower[a] = 1 / (1 + exp(wide - logit));
        m->stationary_upper[a] = 1 / (1 + exp(-wide - logit));
    }
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status find_errors(cr_ctx *cx, search *f, cri_markov *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = m->k, n = k * (k - 1), work_index = 6 * k;
    double    *work = cr_scratch_matrix(&s, k, k);
    size_t    *index = cr_scratch_index(&s, work_index);
    bool       known = false;
    CR_TRY(s.status);
    cri_stationary(m->rate, k, work, index, m->stationary);
    for (size_t a = 0; a < k; a++)
        m->stationary_sd[a] = m->stationary_lower[a] = m->stationary_upper[a] = m->holding_sd[a] =
            NAN;
    for (size_t c = 0; c < k * k; c++) m->rate_sd[c] = NAN;
    if (n == 0 || work_of_covariance(f) > MOST_WORK) goto done;
    double *C = cr_scratch_matrix(&s, n, n);
    CR_TRY(s.status);
    CR_TRY(find_covariance(cx, f, m->rate, C, &known));
    if (known) CR_TRY(set_errors(cx, C, m));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the fit --------------------------------------------------------------------------------- */

void cri_markov_time_ends(const cri_rows *rows, const double *symbol, cri_markov *m)
{
    const cri_sequences *q = rows->sequences;
    for (size_t s = 0; s < q->n; s++) {
        double *place = m->ends + s * CRI_MARKOV_TIME_PLACE;
        size_t  last = q->row[q->start[s + 1] - 1];
        place[0] = (double)(q->start[s + 1] - q->start[s]);
        place[1] = symbol[last], place[2] = q->time[last];
    }
}

static double log_likelihood_of_first_rows(const cri_rows *rows, const double *symbol,
                                           const cri_markov *m)
{
    const cri_sequences *q = rows->sequences;
    double               sum = 0;
    for (size_t s = 0; s < q->n; s++)
        sum += log(cri_markov_p(m, 0, (size_t)symbol[q->row[q->start[s]]]));
    return sum;
}

cr_status cri_markov_time_fit(cr_ctx *cx, const cri_rows *rows, const double *symbol,
                              const cri_markov_time_settings *o, cri_markov *m, cr_report *report)
{
    cr_status       st = CR_OK;
    cr_scratch      s = cr_scratch_begin(cx);
    size_t          k = m->k;
    cri_markov_gaps g = { 0 };
    search          f = { .k = k, .alpha = o->prior_jumps };
    CR_TRY(cri_markov_gaps_find(cx, &s, rows, symbol, k, &g));
    f.beta = f.alpha * (double)(k - 1) * g.time / g.pairs;
    CR_TRY(cri_markov_expectation_open(&s, &g, k, &f.e));
    m->rate = cr_alloc(cx, k * k, sizeof(double));
    m->rate_sd = cr_alloc(cx, k * k, sizeof(double));
    m->holding_sd = cr_alloc(cx, k, sizeof(double));
    if (!m->rate || !m->rate_sd || !m->holding_sd) CR_TRY(CR_ENOMEM);
    start(&f, m->rate);
    CR_TRY(climb(cx, &f, o, m->rate, report));
    m->gaps = g.n, m->prior_jumps = f.alpha, m->prior_time = f.beta;
    m->objective = objective_of(&f);
    m->log_likelihood = f.e.sums[0] + log_likelihood_of_first_rows(rows, symbol, m);
    CR_TRY(find_errors(cx, &f, m));
done:
    cr_scratch_end(&s);
    return st;
}

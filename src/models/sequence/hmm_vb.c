/* hmm_vb.c -- a posterior of a hidden Markov model by variational Bayes.
 *   q = q(paths) Dirichlet(pi) prod_i Dirichlet(A_i) prod_c q(what state c emits)
 * Priors, in the units of the model, in which the columns that are moved have mean 0 and variance 1:
 *   pi, rows of A     Dirichlet(alpha, ...) over the states that may follow
 *   categories        Dirichlet(1, ...);   Bernoulli   Beta(1, 1)
 *   Poisson           rate ~ Gamma(1, 1 / overall mean)
 *   normal            mu | S ~ N(0, S / kappa),  S ~ InverseWishart(g, v I),  kappa = 0.01,  v = k^(-2 / normal columns)
 *                     for g columns together, log x of log-normal ones; tied: one S for all states
 * The state holds posterior means as its parameters (of a covariance the inverse of the expected precision) and beside
 * them expected rows, so that these are the whole posterior. The E-step is forward-backward with exp(E log pi),
 * exp(E log A) and exp(E log p(x | c)), in which the sums over j are below 1:
 *   bound = log of what the paths are normalised by, all sequences, - divergence of q(parameters) from the prior.
 * Rows with some cells of a block missing have the others as unknowns, q(missing | c) normal.
 * MacKay (1997), Ensemble learning for hidden Markov models; Beal (2003), Variational algorithms for approximate Bayesian
 * inference, ch. 3. */
#include "hmm.h"
#include "math/special/special.h"
#include "prob/dist/small_matrix.h"

#include <math.h>
#include <string.h>

static const double KAPPA = 0.01, LEVEL_ALPHA = 1, RATE_SHAPE = 1;

bool cri_hmm_vb_knows(size_t kind)
{
    return kind == CRI_EMIT_GAUSSIAN || kind == CRI_EMIT_LOGNORMAL || kind == CRI_EMIT_JOINT ||
           kind == CRI_EMIT_POISSON || kind == CRI_EMIT_BERNOULLI || kind == CRI_EMIT_CATEGORY;
}

/* --- the posterior, from parameters and expected rows ---------------------------------------- */

double cri_hmm_vb_scale(const cri_hmm *m)
{
    size_t normal = 0;
    for (size_t j = 0; j < m->p; j++) {
        const cri_emission *e = cri_emission_of(m->kind[j]);
        normal += m->kind[j] == CRI_EMIT_JOINT || (e && e->moved);
    }
    return normal > 0 ? pow((double)m->k, -2 / (double)normal) : 1;
}

cri_hmm_normal cri_hmm_vb_normal(const cri_hmm *m, size_t j, size_t c)
{
    bool           joint = m->kind[j] == CRI_EMIT_JOINT;
    const double  *rows = m->seen + j * m->k;
    cri_hmm_normal o = { .kappa = KAPPA, .beta = KAPPA + rows[c], .nu0 = joint ? (double)m->g : 1 };
    o.nu = o.nu0 + rows[c];
    if (!joint || m->covariance_is != 2) return o;
    o.nu = o.nu0;
    for (size_t i = 0; i < m->k; i++) o.nu += rows[i];
    return o;
}

cri_hmm_rate cri_hmm_vb_rate(const cri_hmm *m, size_t j, size_t c)
{
    cri_hmm_rate o = { .a0 = RATE_SHAPE, .b0 = RATE_SHAPE / m->overall[j] };
    o.b = o.b0 + m->seen[j * m->k + c];
    o.a = m->mean[j * m->k + c] * o.b;
    return o;
}

cri_hmm_shares cri_hmm_vb_transitions(const cri_hmm *m, size_t i)
{
    bool begins = i == m->k;
    return (cri_hmm_shares){ .p = begins ? m->pi : m->A + i * m->k,
                             .opt_allowed = begins ? m->may_begin : m->may_go + i * m->k,
                             .n = m->k,
                             .stride = 1,
                             .alpha = m->alpha,
                             .rows = begins ? (double)m->sequences : m->leaving[i] };
}

cri_hmm_shares cri_hmm_vb_levels(const cri_hmm *m, size_t j, size_t c)
{
    return (cri_hmm_shares){ .p = m->level + m->first[j] * m->k + c,
                             .n = cri_hmm_levels(m, j),
                             .stride = m->k,
                             .alpha = LEVEL_ALPHA,
                             .rows = m->seen[j * m->k + c] };
}

static bool is_allowed(const cri_hmm_shares *s, size_t i)
{
    return !s->opt_allowed || s->opt_allowed[i] > 0;
}

double cri_hmm_vb_total(const cri_hmm_shares *s)
{
    double total = s->rows;
    for (size_t i = 0; i < s->n; i++) total += is_allowed(s, i) ? s->alpha : 0;
    return total;
}

/* --- the E-step ------------------------------------------------------------------------------ */

/* exp(E log p), as far apart as p. */
static void expect_shares(cri_hmm_shares s, double *out, double *opt_log)
{
    double total = cri_hmm_vb_total(&s), of_all = cr_digamma(total);
    for (size_t i = 0; i < s.n; i++) {
        size_t at = i * s.stride;
        double log_p = is_allowed(&s, i) ? cr_digamma(total * s.p[at]) - of_all : -INFINITY;
        out[at] = exp(log_p);
        if (opt_log) opt_log[at] = log_p;
    }
}

/* E log N(x) less log N(x; m, S). */
static double shift_normal(const cri_hmm *m, size_t j, size_t c)
{
    cri_hmm_normal o = cri_hmm_vb_normal(m, j, c);
    size_t         g = (size_t)o.nu0;
    return 0.5 * (cri_digamma_d(0.5 * o.nu, g) + (double)g * log(2 / o.nu) - (double)g / o.beta);
}

/* A rate with E log rate, and what E rate is less. */
static void expect_rate(const cri_hmm *m, size_t j, size_t c, double *out_rate, double *out_shift)
{
    cri_hmm_rate o = cri_hmm_vb_rate(m, j, c);
    *out_rate = exp(cr_digamma(o.a)) / o.b;
    *out_shift = *out_rate - o.a / o.b;
}

/* A probability with the same E log p / (1 - p), and what E log (1 - p) is less. */
static void expect_answer(const cri_hmm *m, size_t j, size_t c, double *out_p, double *out_shift)
{
    double p = m->mean[j * m->k + c], total = 2 * LEVEL_ALPHA + m->seen[j * m->k + c];
    double no = cr_digamma((1 - p) * total), odds = exp(cr_digamma(p * total) - no);
    *out_p = odds / (1 + odds);
    *out_shift = no - cr_digamma(total) + log1p(odds);
}

static size_t expected_size(const cri_hmm *m) { return m->k * (1 + m->k + 2 * m->L + 2 * m->p); }

const double *cri_hmm_vb_expect(const cri_hmm *m, cri_hmm *out)
{
    *out = *m;
    out->pi = m->expected;
    out->A = out->pi + m->k;
    out->level = out->A + m->k * m->k;
    out->log_level = out->level + m->L * m->k;
    out->mean = out->log_level + m->L * m->k;
    return out->mean + m->p * m->k;
}

/* Sets what an E-step takes. */
static void set_expected(cri_hmm *m)
{
    size_t  k = m->k, p = m->p;
    cri_hmm out;
    cri_hmm_vb_expect(m, &out);
    double *shift = out.mean + p * k;
    memcpy(out.mean, m->mean, p * k * sizeof *shift);
    memset(shift, 0, p * k * sizeof *shift);
    for (size_t i = 0; i <= k; i++)
        expect_shares(cri_hmm_vb_transitions(m, i), i == k ? out.pi : out.A + i * k, NULL);
    for (size_t j = 0; j < p; j++)
        for (size_t c = 0; c < k; c++) {
            double *mean = &out.mean[j * k + c], *by = &shift[j * k + c];
            size_t  level = m->first[j] * k + c;
            if (m->kind[j] == CRI_EMIT_CATEGORY)
                expect_shares(cri_hmm_vb_levels(m, j, c), out.level + level, out.log_level + level);
            else if (m->kind[j] == CRI_EMIT_POISSON)
                expect_rate(m, j, c, mean, by);
            else if (m->kind[j] == CRI_EMIT_BERNOULLI)
                expect_answer(m, j, c, mean, by);
            else
                *by = shift_normal(m, j, c);
        }
}

cr_status cri_hmm_vb_open(cr_ctx *cx, cri_hmm *m)
{
    m->expected = cr_alloc(cx, expected_size(m), sizeof *m->expected);
    if (!m->expected) return CR_ENOMEM;
    set_expected(m);
    return CR_OK;
}

void cri_hmm_vb_close(cr_ctx *cx, cri_hmm *m)
{
    cr_free(cx, m->expected, expected_size(m), sizeof *m->expected);
    cri_state_free(cx, &cri_class_hmm, m->predictive);
    m->expected = NULL, m->predictive = NULL;
}

/* Of columns that are normal together, where one of them is there. */
static bool is_there(const cri_hmm_view *v, size_t j, size_t t)
{
    const cri_hmm *m = v->m;
    size_t         g = m->kind[j] == CRI_EMIT_JOINT ? m->g : 1;
    for (size_t a = 0; a < g; a++)
        if (!isnan(v->data->X[(g > 1 ? m->joint[a] : j) * v->data->T + t])) return true;
    return false;
}

void cri_hmm_vb_shift(const cri_hmm_view *v, size_t begin, size_t end, double *out)
{
    const cri_hmm *m = v->m;
    for (size_t j = 0; j < m->p; j++) {
        const double *shift = v->opt_shift + j * m->k;
        bool          again = m->kind[j] == CRI_EMIT_JOINT && j != m->joint[0];
        if (m->kind[j] == CRI_EMIT_CATEGORY || again) continue;
        for (size_t t = begin; t < end; t++) {
            double *o = out + (t - begin) * v->chain.stride;
            if (!is_there(v, j, t)) continue;
            for (size_t c = 0; c < m->k; c++) o[c] += shift[c];
        }
    }
}

/* --- rows that are not looked at again -------------------------------------------------------- */

static double log_of_shares(cri_hmm_shares s, const double *count)
{
    double total = cri_hmm_vb_total(&s), of_all = cr_digamma(total), sum = 0;
    for (size_t i = 0; i < s.n; i++)
        if (is_allowed(&s, i))
            sum += count[i * s.stride] * (cr_digamma(total * s.p[i * s.stride]) - of_all);
    return sum;
}

/* sums: rows, and then first and second moments about the mean, or what is counted, k apart. */
static double log_of_column(const cri_hmm *m, size_t j, size_t c, const double *sums)
{
    double mean = m->mean[j * m->k + c], S = pow(m->spread[j * m->k + c], 2);
    if (m->kind[j] == CRI_EMIT_POISSON) {
        cri_hmm_rate o = cri_hmm_vb_rate(m, j, c);
        return sums[m->k] * (cr_digamma(o.a) - log(o.b)) - sums[0] * o.a / o.b;
    }
    if (m->kind[j] == CRI_EMIT_BERNOULLI) {
        double p[2] = { 1 - mean, mean }, count[2] = { sums[0] - sums[m->k], sums[m->k] };
        return log_of_shares(
            (cri_hmm_shares){
                .p = p, .n = 2, .stride = 1, .alpha = LEVEL_ALPHA, .rows = m->seen[j * m->k + c] },
            count);
    }
    return sums[0] * (shift_normal(m, j, c) - 0.5 * log(S)) - 0.5 * sums[2 * m->k] / S;
}

static double log_of_joint(const cri_hmm *m, size_t c, const double *sums)
{
    size_t        k = m->k, g = m->g;
    const double *second = sums + k + g * k;
    double        sum = sums[c] * shift_normal(m, m->joint[0], c);
    for (size_t a = 0; a < g; a++) {
        const double *w = m->whiten + a * g * k + c;
        sum += sums[c] * log(w[a * k]);
        for (size_t b = 0; b <= a; b++)
            for (size_t d = 0; d <= b; d++)
                sum -= (b == d ? 0.5 : 1) * w[b * k] * w[d * k] * second[(b * g + d) * k + c];
    }
    return sum;
}

double cri_hmm_vb_log_of_sums(const cri_hmm *m, double *sums)
{
    cri_hmm_sums s = cri_hmm_sums_at(m, sums);
    size_t       k = m->k;
    double       sum = log_of_shares(cri_hmm_vb_transitions(m, k), s.begins);
    for (size_t c = 0; c < k; c++) {
        sum += log_of_shares(cri_hmm_vb_transitions(m, c), s.pairs + c * k);
        for (size_t j = 0; j < m->p; j++) {
            if (m->kind[j] == CRI_EMIT_CATEGORY)
                sum += log_of_shares(cri_hmm_vb_levels(m, j, c), s.levels + m->first[j] * k + c);
            else if (m->kind[j] != CRI_EMIT_JOINT)
                sum += log_of_column(m, j, c, s.columns + j * CRI_EMIT_SUMS * k + c);
        }
        if (m->g > 0) sum += log_of_joint(m, c, s.joint);
    }
    return sum;
}

/* --- the M-step ------------------------------------------------------------------------------ */

/* The means for expected counts; s.rows becomes their sum. */
static double solve_shares(cri_hmm_shares s, const double *count)
{
    s.rows = 0;
    for (size_t i = 0; i < s.n; i++) s.rows += is_allowed(&s, i) ? count[i * s.stride] : 0;
    double total = cri_hmm_vb_total(&s);
    for (size_t i = 0; i < s.n; i++)
        s.p[i * s.stride] = is_allowed(&s, i) ? (s.alpha + count[i * s.stride]) / total : 0;
    return s.rows;
}

/* sums: rows, first and second moments about the mean so far, k apart. */
static void solve_normal(cri_hmm *m, size_t j, size_t c, const double *sums)
{
    size_t         k = m->k, at = j * k + c;
    cri_hmm_normal o = cri_hmm_vb_normal(m, j, c);
    double         step = (sums[k] - o.kappa * m->mean[at]) / o.beta, mean = m->mean[at] + step;
    double         squares = sums[2 * k] - 2 * step * sums[k] + step * step * sums[0];
    double         scale = cri_hmm_vb_scale(m) + fmax(squares, 0) + o.kappa * mean * mean;
    m->mean[at] = mean;
    m->spread[at] = sqrt(scale / o.nu);
}

static void solve_column(cri_hmm *m, size_t j, const cri_hmm_sums *s)
{
    size_t        k = m->k;
    const double *sums = s->columns + j * CRI_EMIT_SUMS * k, *levels = s->levels + m->first[j] * k;
    for (size_t c = 0; c < k; c++) {
        double *mean = &m->mean[j * k + c], *seen = &m->seen[j * k + c];
        if (m->kind[j] == CRI_EMIT_CATEGORY) {
            *seen = solve_shares(cri_hmm_vb_levels(m, j, c), levels + c);
            continue;
        }
        *seen = m->kind[j] == CRI_EMIT_JOINT ? s->joint[c] : sums[c];
        if (m->kind[j] == CRI_EMIT_POISSON) {
            cri_hmm_rate o = cri_hmm_vb_rate(m, j, c);
            *mean = (o.a0 + sums[k + c]) / o.b;
        } else if (m->kind[j] == CRI_EMIT_BERNOULLI) {
            *mean = (LEVEL_ALPHA + sums[k + c]) / (2 * LEVEL_ALPHA + *seen);
        } else if (m->kind[j] != CRI_EMIT_JOINT) {
            solve_normal(m, j, c, sums + c);
        }
    }
}

/* step [g]; scale [g x g], of all states where they share the covariance. */
static void solve_joint(cri_hmm *m, const double *sums, double *work)
{
    size_t        k = m->k, g = m->g;
    const double *first = sums + k, *second = first + g * k;
    double       *step = work, *scale = work + g, v = cri_hmm_vb_scale(m);
    bool          tied = m->covariance_is == 2;
    for (size_t c = 0; c < k; c++) {
        cri_hmm_normal o = cri_hmm_vb_normal(m, m->joint[0], c);
        for (size_t a = 0; a < g; a++) {
            double *mean = &m->mean[m->joint[a] * k + c];
            step[a] = (first[a * k + c] - o.kappa * *mean) / o.beta;
            *mean += step[a];
        }
        for (size_t a = 0; a < g; a++)
            for (size_t b = 0; b <= a; b++) {
                double means = m->mean[m->joint[a] * k + c] * m->mean[m->joint[b] * k + c];
                double d = second[(a * g + b) * k + c] - step[a] * first[b * k + c] -
                           step[b] * first[a * k + c] + step[a] * step[b] * sums[c] +
                           o.kappa * means;
                scale[a * g + b] = d + (c > 0 && tied ? scale[a * g + b] : a == b ? v : 0);
                for (size_t s = tied ? 0 : c; s <= c; s++)
                    m->covariance[(a * g + b) * k + s] = m->covariance[(b * g + a) * k + s] =
                        scale[a * g + b] / o.nu;
            }
    }
}

void cri_hmm_vb_solve(cri_hmm *m, double *sums, double *work)
{
    cri_hmm_sums s = cri_hmm_sums_at(m, sums);
    solve_shares(cri_hmm_vb_transitions(m, m->k), s.begins);
    for (size_t i = 0; i < m->k; i++)
        m->leaving[i] = solve_shares(cri_hmm_vb_transitions(m, i), s.pairs + i * m->k);
    for (size_t j = 0; j < m->p; j++) solve_column(m, j, &s);
    if (m->g > 0) solve_joint(m, s.joint, work);
    set_expected(m);
}

/* --- the first of them ----------------------------------------------------------------------- */

/* The means of the posterior for as many rows as `s` has, like the parameters. */
static void begin_shares(cri_hmm_shares s)
{
    double total = cri_hmm_vb_total(&s);
    for (size_t i = 0; i < s.n; i++)
        if (is_allowed(&s, i)) s.p[i * s.stride] = (s.alpha + s.rows * s.p[i * s.stride]) / total;
}

cr_status cri_hmm_vb_begin(cr_ctx *cx, double alpha, cri_hmm *m)
{
    size_t k = m->k;
    double steps = (double)(m->data->T - m->data->n) / (double)k;
    m->leaving = cr_alloc(cx, k, sizeof(double));
    m->seen = cr_alloc(cx, m->p * k, sizeof(double));
    if (!m->leaving || !m->seen) return CR_ENOMEM;
    m->alpha = alpha;
    for (size_t c = 0; c < k; c++) m->leaving[c] = steps;
    for (size_t i = 0; i <= k; i++) begin_shares(cri_hmm_vb_transitions(m, i));
    for (size_t j = 0; j < m->p; j++)
        for (size_t c = 0; c < k; c++) {
            double rows = (double)m->data->T / (double)k, *mean = &m->mean[j * k + c];
            m->seen[j * k + c] = rows;
            if (m->kind[j] == CRI_EMIT_CATEGORY) begin_shares(cri_hmm_vb_levels(m, j, c));
            if (m->kind[j] == CRI_EMIT_BERNOULLI)
                *mean = (LEVEL_ALPHA + rows * *mean) / (2 * LEVEL_ALPHA + rows);
        }
    return cri_hmm_vb_open(cx, m);
}

/* markov_describe.c -- what a Markov chain says of itself: the posterior of its transitions, its long run with the
 * uncertainty of the posterior, and what the counts alone show: which symbols lead to each other, which classes of them
 * were never left, and how long it takes to come there. */
#include "markov.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "math/special/special.h"
#include "prob/dist/dirichlet.h"
#include "stationary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cr_field cri_markov_statistics[] = {
    CR_COUNT("symbols", 0, "different symbols"),
    CR_COUNT("order", 0, "symbols before a row that count"),
    CR_COUNT("sequences", 0, "sequences that it has learned from"),
    CR_COUNT("contexts_seen", CR_FIELD_SOMETIMES, "in discrete time: contexts that occurred"),
    CR_COUNT("gaps", CR_FIELD_SOMETIMES, "with --continuous: different times between rows"),
    CR_NUMBER("parameters", 0,
              "free probabilities of the contexts that occurred; with --continuous, rates and "
              "probabilities of the first symbols"),
    CR_NUMBER("bic", 0, "-2 log likelihood + parameters ln(rows): lower is better"),
    CR_NUMBER("entropy_rate", CR_FIELD_NULL,
              "nats per row in the long run, at the means of the posterior; null where that is not "
              "known"),
    CR_COUNT("classes", CR_FIELD_SOMETIMES,
             "in discrete time: classes of symbols that were seen to lead to each other"),
    CR_FIELD_LAST,
};

static const cr_field symbol_fields[] = {
    CR_TEXT("symbol", 0, "a symbol"),
    CR_COUNT("count", 0, "rows with it"),
    CR_NUMBER("stationary", CR_FIELD_NULL,
              "posterior mean of its probability in the long run; null where it was not found"),
    CR_NUMBER("sd", CR_FIELD_NULL, "its posterior standard deviation"),
    CR_NUMBER("lower", CR_FIELD_NULL, "lower end of its 95 % interval"),
    CR_NUMBER("upper", CR_FIELD_NULL, "upper end of it"),
    CR_NUMBER("holding", CR_FIELD_EITHER,
              "with --continuous: mean time until it is left, in units of the time, days of dates"),
    CR_NUMBER("holding_sd", CR_FIELD_EITHER, "its standard deviation"),
    CR_COUNT("class", CR_FIELD_SOMETIMES, "in discrete time: the class that it is in"),
    CR_FLAG("closed", CR_FIELD_SOMETIMES, "whether this class was never left"),
    CR_NUMBER(
        "absorption", CR_FIELD_EITHER,
        "of order 1: rows until a closed class is reached, as often as it was seen; null in one "
        "and where none is reached"),
    CR_FIELD_LAST,
};

static const cr_field tried_fields[] = {
    CR_COUNT("order", 0, "an order that was tried"),
    CR_NUMBER("log_evidence", 0, "of the rows"),
    CR_NUMBER("probability", 0, "of this order, all that were tried being as likely before"),
    CR_FIELD_LAST,
};

const cr_field cri_markov_tables[] = {
    CR_INNER(ROWS, "symbols", 0, "the symbols in the long run", symbol_fields),
    CR_INNER(ROWS, "orders", CR_FIELD_SOMETIMES,
             "where there is more than one: orders that were tried", tried_fields),
    CR_FIELD_LAST,
};

/* --- the long run ---------------------------------------------------------------------------- */

enum { MOST_LONG_RUN = 256, MOST_DRAWS = 1000, LEAST_DRAWS = 100 };
static const double EFFORT = 3e8; /* operations of all draws */

/* Full contexts as the states of a chain: P [S x S] from rows p [S x k] of the symbols that follow. */
static void make_chain(size_t k, size_t S, const double *p, double *P)
{
    memset(P, 0, S * S * sizeof *P);
    for (size_t c = 0; c < S; c++)
        for (size_t b = 0; b < k; b++) P[c * S + (c * k + b) % S] += p[c * k + b];
}

/* Of the symbols [k] from that of contexts [S], whose last digit they are. */
static void to_symbols(size_t k, size_t S, const double *p, const double *pi, double *out)
{
    memset(out, 0, k * sizeof *out);
    for (size_t c = 0; c < S; c++)
        for (size_t b = 0; b < k; b++) out[b] += pi[c] * p[c * k + b];
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Mean, sd and quantiles of n sorted draws. */
static void summarise(double *draw, size_t n, double *mean, double *sd, double *lower,
                      double *upper)
{
    double sum = 0, squares = 0;
    qsort(draw, n, sizeof *draw, compare);
    for (size_t i = 0; i < n; i++) sum += draw[i] / (double)n;
    for (size_t i = 0; i < n; i++) squares += (draw[i] - sum) * (draw[i] - sum);
    *mean = sum;
    *sd = sqrt(squares / (double)(n - 1));
    *lower = draw[(size_t)(0.025 * (double)(n - 1))];
    *upper = draw[(size_t)ceil(0.975 * (double)(n - 1))];
}

cr_status cri_markov_find_stationary(cr_ctx *cx, uint64_t seed, cri_markov *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = m->k, first = cri_markov_first(k, m->order), S = m->contexts - first;
    size_t     draws = 0, *index;
    double    *p, *P, *work, *pi, *alpha, *drawn, *symbols;

    for (size_t b = 0; b < k; b++)
        m->stationary[b] = m->stationary_sd[b] = m->stationary_lower[b] = m->stationary_upper[b] =
            NAN;
    if (S > MOST_LONG_RUN) goto done;
    double each = (double)S * (double)S * (double)S / 3 + (double)(S * k) * 30;
    draws = (size_t)fmin(EFFORT / each, MOST_DRAWS);
    if (draws < LEAST_DRAWS) draws = 0;
    p = cr_scratch_matrix(&s, S, k);
    P = cr_scratch_matrix(&s, S, S);
    work = cr_scratch_matrix(&s, S, S);
    pi = cr_scratch_f64(&s, S);
    alpha = cr_scratch_f64(&s, k);
    symbols = cr_scratch_f64(&s, k);
    drawn = cr_scratch_matrix(&s, k, draws);
    index = cr_scratch_index(&s, 6 * S);
    CR_TRY(s.status);
    for (size_t c = 0; c < S; c++)
        for (size_t b = 0; b < k; b++) p[c * k + b] = cri_markov_p(m, first + c, b);
    make_chain(k, S, p, P);
    cri_stationary(P, S, work, index, pi);
    to_symbols(k, S, p, pi, m->stationary);
    for (size_t d = 0; d < draws; d++) {
        cr_rng r = cr_rng_stream(seed, d);
        if (d % 64 == 0) CR_TRY(cr_check_interrupt(cx));
        for (size_t c = 0; c < S; c++) {
            for (size_t b = 0; b < k; b++) alpha[b] = m->counts[(first + c) * k + b] + m->alpha;
            cri_draw_dirichlet(&r, alpha, k, p + c * k);
        }
        make_chain(k, S, p, P);
        if (!cri_stationary(P, S, work, index, pi)) goto done; /* probabilities too small to draw */
        to_symbols(k, S, p, pi, symbols);
        for (size_t b = 0; b < k; b++) drawn[b * draws + d] = symbols[b];
    }
    for (size_t b = 0; b < k && draws > 0; b++)
        summarise(drawn + b * draws, draws, &m->stationary[b], &m->stationary_sd[b],
                  &m->stationary_lower[b], &m->stationary_upper[b]);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- what was seen --------------------------------------------------------------------------- */

/* How often b followed a: N [k x k], whatever the context before a. */
static void count_pairs(const cri_markov *m, double *N)
{
    size_t k = m->k;
    memset(N, 0, k * k * sizeof *N);
    for (size_t c = 1; c < m->contexts; c++) {
        size_t l = 1;
        while (cri_markov_first(k, l + 1) <= c) l++;
        size_t a = (c - cri_markov_first(k, l)) % k;
        for (size_t b = 0; b < k; b++) N[a * k + b] += m->counts[c * k + b];
    }
}

/* Rows until a closed class is reached, t = 1 + Q t over the symbols that are in none; NaN in one.  Q [k x k] and P [k x k]
 * to work in.  Every such symbol leads to a closed class, so that elimination needs no exchange of rows. */
static void find_absorption(const double *N, size_t k, const size_t *class_of, const bool *closed,
                            double *Q, double *t)
{
    for (size_t i = 0; i < k; i++) {
        double total = 0;
        bool   open = !closed[class_of[i]];
        for (size_t j = 0; j < k; j++) total += N[i * k + j];
        for (size_t j = 0; j < k; j++)
            Q[i * k + j] = (i == j) - (open && !closed[class_of[j]] ? N[i * k + j] / total : 0);
        t[i] = open ? 1 : 0;
    }
    for (size_t i = 0; i < k; i++)
        for (size_t r = i + 1; r < k; r++) {
            double f = Q[r * k + i] / Q[i * k + i];
            if (f == 0) continue;
            for (size_t j = i; j < k; j++) Q[r * k + j] -= f * Q[i * k + j];
            t[r] -= f * t[i];
        }
    for (size_t i = k; i-- > 0;) {
        for (size_t j = i + 1; j < k; j++) t[i] -= Q[i * k + j] * t[j];
        t[i] /= Q[i * k + i];
    }
    for (size_t i = 0; i < k; i++)
        if (closed[class_of[i]]) t[i] = NAN;
}

static cr_status describe_symbols(cr_ctx *cx, const cri_markov *m, cri_sheet *out,
                                  size_t *out_classes)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     k = m->k, *class_of = cr_scratch_index(&s, k), *work = cr_scratch_index(&s, 4 * k);
    bool      *closed = cr_scratch_bytes(&s, k, sizeof *closed);
    double    *N = cr_scratch_matrix(&s, k, k), *Q = cr_scratch_matrix(&s, k, k);
    double    *t = cr_scratch_f64(&s, k), *count = cr_scratch_bytes(&s, k, sizeof *count);
    cri_sheet *list;

    CR_TRY(s.status);
    count_pairs(m, N);
    *out_classes = cri_communicating_classes(N, k, 0, class_of, closed, work);
    find_absorption(N, k, class_of, closed, Q, t);
    for (size_t c = 0; c < m->contexts; c++)
        for (size_t b = 0; b < k; b++) count[b] += m->counts[c * k + b];
    list = cri_put_list(out, "symbols");
    for (size_t b = 0; b < k; b++) {
        cri_sheet *row = cri_put_object(list, NULL);
        cri_put_text(row, "symbol", m->names[b]);
        cri_put_count(row, "count", (size_t)count[b]);
        cri_put_real(row, "stationary", m->stationary[b]);
        cri_put_real(row, "sd", m->stationary_sd[b]);
        cri_put_real(row, "lower", m->stationary_lower[b]);
        cri_put_real(row, "upper", m->stationary_upper[b]);
        cri_put_count(row, "class", class_of[b] + 1);
        cri_put_flag(row, "closed", closed[class_of[b]]);
        cri_put_real(row, "absorption", m->order == 1 ? t[b] : NAN);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- parameters ------------------------------------------------------------------------------ */

enum { NAME_SIZE = 1024 };

/* "a,b," of a context of l symbols, the first of them first; cut where it is too long. */
static void spell(const cri_markov *m, size_t own, size_t l, char *out)
{
    size_t used = 0, power = 1;
    for (size_t i = 1; i < l; i++) power *= m->k;
    out[0] = '\0';
    for (size_t i = 0; i < l && used < NAME_SIZE; i++) {
        used += (size_t)snprintf(out + used, NAME_SIZE - used, "%s,", m->names[own / power % m->k]);
        if (power >= m->k) power /= m->k;
    }
}

static void add_context(const cri_markov *m, size_t c, size_t l, double total, cri_sheet *list)
{
    char   context[NAME_SIZE];
    size_t k = m->k;
    double A = total + m->alpha * (double)k;
    bool   full = l == m->order;
    spell(m, c - cri_markov_first(k, l), l, context);
    for (size_t b = 0; b < k; b++) {
        double     a = m->counts[c * k + b] + m->alpha, mean = a / A;
        double     sd = k > 1 ? sqrt(mean * (1 - mean) / (A + 1)) : 0;
        cri_sheet *row = cri_parameter_add(list, mean, sd, "%s[%s%s]",
                                           m->order == 0 ? "p"
                                           : full        ? "A"
                                                         : "pi",
                                           context, m->names[b]);
        cri_put_real(row, "lower", k > 1 ? cr_betainc_inv(a, A - a, 0.025) : 1);
        cri_put_real(row, "upper", k > 1 ? cr_betainc_inv(a, A - a, 0.975) : 1);
    }
}

/* -sum_c pi_c sum_b p_cb log p_cb over the full contexts, by the symbols where the order is at most 1. */
static double entropy_rate(const cri_markov *m)
{
    double sum = 0;
    size_t first = cri_markov_first(m->k, m->order), S = m->contexts - first;
    if (m->order > 1) return NAN;
    for (size_t c = 0; c < S; c++)
        for (size_t b = 0; b < m->k; b++) {
            double p = cri_markov_p(m, first + c, b);
            sum -= (m->order == 0 ? 1 : m->stationary[c]) * p * log(p);
        }
    return sum;
}

static void describe_tried(const cri_markov *m, cri_sheet *out)
{
    double sum = 0;
    for (size_t i = 0; i < m->tried; i++) sum += exp(m->tried_evidence[i] - m->log_evidence);
    cri_sheet *list = m->tried > 1 ? cri_put_list(out, "orders") : NULL;
    for (size_t i = 0; i < m->tried && m->tried > 1; i++) {
        cri_sheet *row = cri_put_object(list, NULL);
        cri_put_count(row, "order", (size_t)m->tried_order[i]);
        cri_put_real(row, "log_evidence", m->tried_evidence[i]);
        cri_put_real(row, "probability", exp(m->tried_evidence[i] - m->log_evidence) / sum);
    }
}

/* --- continuous time ------------------------------------------------------------------------- */

/* The posterior of a rate is taken for the gamma distribution of its mean and sd. */
static void add_rate(const cri_markov *m, size_t a, size_t b, cri_sheet *list)
{
    double     q = m->rate[a * m->k + b], sd = m->rate_sd[a * m->k + b], shape = q / sd * (q / sd);
    bool       known = isfinite(shape) && shape > 0;
    cri_sheet *row = cri_parameter_add(list, q, sd, "Q[%s,%s]", m->names[a], m->names[b]);
    cri_put_real(row, "lower", known ? q * cr_gamma_p_inv(shape, 0.025) / shape : NAN);
    cri_put_real(row, "upper", known ? q * cr_gamma_q_inv(shape, 0.025) / shape : NAN);
}

static void describe_time(const cri_markov *m, cri_sheet *out)
{
    size_t     k = m->k;
    double     n = (double)m->sequences, parameters = (double)((k - 1) * (k + 1));
    cri_sheet *list = cri_put_list(out, "parameters"), *s = cri_put_object(out, "statistics");
    add_context(m, 0, 0, n, list);
    for (size_t a = 0; a < k; a++)
        for (size_t b = 0; b < k; b++)
            if (a != b) add_rate(m, a, b, list);
    cri_put_count(s, "symbols", k);
    cri_put_count(s, "order", m->order);
    cri_put_count(s, "sequences", m->sequences);
    cri_put_count(s, "gaps", m->gaps);
    cri_put_real(s, "parameters", parameters);
    cri_put_real(s, "bic", -2 * m->log_likelihood + parameters * log(m->rows));
    cri_put_real(s, "entropy_rate", NAN);
    list = cri_put_list(out, "symbols");
    for (size_t b = 0; b < k; b++) {
        double     rows = 0;
        cri_sheet *row = cri_put_object(list, NULL);
        for (size_t c = 0; c < m->contexts; c++) rows += m->counts[c * k + b];
        cri_put_text(row, "symbol", m->names[b]);
        cri_put_count(row, "count", (size_t)rows);
        cri_put_real(row, "stationary", m->stationary[b]);
        cri_put_real(row, "sd", m->stationary_sd[b]);
        cri_put_real(row, "lower", m->stationary_lower[b]);
        cri_put_real(row, "upper", m->stationary_upper[b]);
        cri_put_real(row, "holding", k > 1 ? -1 / m->rate[b * k + b] : NAN);
        cri_put_real(row, "holding_sd", m->holding_sd[b]);
    }
}

cr_status cri_markov_describe(cr_ctx *cx, const void *state, const cr_design *design,
                              cri_sheet *out)
{
    const cri_markov *m = state;
    (void)design;
    if (m->rate) {
        describe_time(m, out);
        return CR_OK;
    }
    cri_sheet *list = cri_put_list(out, "parameters");
    size_t     seen = 0, classes = 0, l = 0;
    for (size_t c = 0; c < m->contexts; c++) {
        double total = 0;
        while (l < m->order && c >= cri_markov_first(m->k, l + 1)) l++;
        for (size_t b = 0; b < m->k; b++) total += m->counts[c * m->k + b];
        if (total == 0) continue;
        seen++;
        add_context(m, c, l, total, list);
    }
    double     parameters = (double)seen * ((double)m->k - 1);
    cri_sheet *s = cri_put_object(out, "statistics");
    cr_status  st = describe_symbols(cx, m, out, &classes);
    if (st != CR_OK) return st;
    cri_put_count(s, "symbols", m->k);
    cri_put_count(s, "order", m->order);
    cri_put_count(s, "sequences", m->sequences);
    cri_put_count(s, "contexts_seen", seen);
    cri_put_real(s, "parameters", parameters);
    cri_put_real(s, "bic", -2 * m->log_likelihood + parameters * log(m->rows));
    cri_put_real(s, "entropy_rate", entropy_rate(m));
    cri_put_count(s, "classes", classes);
    describe_tried(m, out);
    return CR_OK;
}

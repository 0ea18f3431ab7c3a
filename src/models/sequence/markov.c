/* markov.c -- Markov chains of any order over symbols: counts of what follows what, with a Dirichlet prior for each context,
 * so that posterior, predictions and evidence are exact; the order is given or that of highest evidence.
 *   p | rows ~ Dirichlet(alpha + n_c),   P(next = b | c) = (n_cb + alpha) / (n_c + k alpha)
 *   log p(rows) = sum_c log Gamma(k alpha) / Gamma(k alpha + n_c) + sum_b log Gamma(alpha + n_cb) / Gamma(alpha)
 * O(n) to learn; k^(order + 1) counts.  Kemeny & Snell (1960), Finite Markov Chains; Strelioff, Crutchfield & Huebler
 * (2007), Physical Review E 76. */
#include "markov.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "markov_follow.h"
#include "markov_time.h"
#include "math/special/special.h"
#include "models/common/described.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARKOV_ORDER "1"
#define MARKOV_OPTIONS(X)                                                                          \
    X(text, order, MARKOV_ORDER, "N",                                                              \
      "how many symbols before a row count, or the first and last number to choose from by "       \
      "evidence",                                                                                  \
      "0:3")                                                                                       \
    X(real, alpha, "1", ">0", "prior count of each symbol after each context", "0.5")              \
    X(flag, continuous, "false", "",                                                               \
      "rows are symbols seen at the times of --time, and the chain may jump in between", "true")   \
    X(real, prior_jumps, "0.1", ">=0",                                                             \
      "with --continuous: jumps from each symbol to each other that the prior counts for; 0: "     \
      "none",                                                                                      \
      "1")                                                                                         \
    X(real, tol, "1e-9", ">=0",                                                                    \
      "with --continuous: stop when a step gains less than this per row", "1e-6")                  \
    X(count, max_iter, "1000", ">=1", "with --continuous: give up after this many steps", "50")
CR_OPTIONS(markov_options, markov_table, MARKOV_OPTIONS);

static const cri_requirement markov_requirements[] = {
    { "prior_jumps", "continuous", "true", false },
    { "tol", "continuous", "true", false },
    { "max_iter", "continuous", "true", false },
    CRI_REQUIREMENT_LAST,
};

#define CRI_TYPE cri_markov
const cri_member cri_markov_record[] = { CRI_MARKOV(CRI_RECORD_ROW) CRI_RECORD_END };
#undef CRI_TYPE

static const size_t MOST_CELLS = (size_t)1 << 24;
enum { MOST_ORDER = 16 };

size_t cri_markov_first(size_t k, size_t l)
{
    size_t sum = 0, power = 1;
    for (size_t i = 0; i < l; i++) {
        sum += power;
        if (power > SIZE_MAX / 4 / k || sum > SIZE_MAX / 4) return SIZE_MAX;
        power *= k;
    }
    return sum;
}

/* --- learning -------------------------------------------------------------------------------- */

static void count(const double *symbol, const cri_sequences *s, size_t k, size_t order,
                  double *counts)
{
    for (size_t i = 0; i < s->n; i++) {
        follower f = follow(k, order);
        for (size_t t = s->start[i]; t < s->start[i + 1]; t++) {
            size_t b = (size_t)symbol[s->row[t]];
            counts[context_of(&f) * k + b] += 1;
            take(&f, b);
        }
    }
}

static double evidence_of(const double *counts, size_t contexts, size_t k, double alpha)
{
    double sum = 0;
    for (size_t c = 0; c < contexts; c++) {
        double total = 0;
        for (size_t b = 0; b < k; b++) total += counts[c * k + b];
        if (total == 0) continue;
        sum -= cr_lgamma_diff(alpha * (double)k, total);
        for (size_t b = 0; b < k; b++)
            if (counts[c * k + b] > 0) sum += cr_lgamma_diff(alpha, counts[c * k + b]);
    }
    return sum;
}

/* "1", or "0:3". */
static cr_status read_orders(cr_ctx *cx, const char *text, size_t *from, size_t *to)
{
    char         *end = NULL;
    unsigned long a = strtoul(text, &end, 10), b = a;
    bool          good = end != text && text[0] != '-' && text[0] != '+';
    if (good && *end == ':') {
        const char *second = end + 1;
        b = strtoul(second, &end, 10);
        good = end != second && second[0] != '-' && second[0] != '+';
    }
    *from = a, *to = b;
    if (good && *end == '\0' && b >= a && b <= MOST_ORDER) return CR_OK;
    cr_fail(cx, CR_EARG,
            "markov: --order is '%s', but must be a whole number from 0 to %d, or two such with a "
            "colon",
            text, MOST_ORDER);
    return cr_fail_hint(cx, "--order 1, or --order 0:3 to choose by evidence");
}

static cr_status check_rows(cr_ctx *cx, const cri_rows *rows, size_t to)
{
    const cr_design *d = rows->design;
    cr_status        st = cri_described_check(cx, "markov", d);
    if (st != CR_OK) return st;
    if (rows->w) {
        cr_fail(cx, CR_EARG, "markov: a row of a sequence cannot count more than another");
        return cr_fail_hint(cx, "leave --weights out");
    }
    if (d->n_columns != 1 || rows->p != 1) {
        cr_fail(cx, CR_EARG, "markov describes one column of symbols, but there are %zu columns",
                d->n_columns);
        return cr_fail_hint(cx, "name it with --features");
    }
    if (d->columns[0].type != CR_CATEGORY) {
        cr_fail(cx, CR_EDATA, "markov: the column '%s' has numbers, not symbols",
                d->columns[0].name);
        return cr_fail_hint(cx, "--category %s takes each number as a symbol", d->columns[0].name);
    }
    size_t k = d->columns[0].n_levels, contexts = cri_markov_first(k, to + 1);
    if (contexts <= MOST_CELLS / k) return CR_OK;
    cr_fail(cx, CR_EARG, "markov: %zu symbols after %zu others are too many combinations", k, to);
    return cr_fail_hint(cx, "ask for a lower --order");
}

/* The order of highest evidence, the lowest of equal ones; counts of it. */
static cr_status choose_order(cr_ctx *cx, const cri_rows *rows, const double *symbol, size_t from,
                              cri_markov *m)
{
    cr_status st = CR_OK;
    double   *counts = NULL;
    size_t    contexts = 0;
    m->log_evidence = -INFINITY;
    for (size_t i = 0; i < m->tried; i++) {
        CR_TRY(cr_check_interrupt(cx));
        contexts = cri_markov_first(m->k, from + i + 1);
        counts = cr_alloc(cx, contexts * m->k, sizeof(double));
        if (!counts) CR_TRY(CR_ENOMEM);
        count(symbol, rows->sequences, m->k, from + i, counts);
        m->tried_order[i] = (double)(from + i);
        m->tried_evidence[i] = evidence_of(counts, contexts, m->k, m->alpha);
        if (m->tried_evidence[i] > m->log_evidence) {
            double *old = m->counts;
            size_t  size = m->contexts * m->k;
            m->counts = counts;
            counts = NULL;
            if (old) cr_free(cx, old, size, sizeof(double));
            m->order = from + i, m->contexts = contexts;
            m->log_evidence = m->tried_evidence[i];
        }
        if (counts) cr_free(cx, counts, contexts * m->k, sizeof(double));
        counts = NULL;
    }
done:
    if (counts) cr_free(cx, counts, contexts * m->k, sizeof(double));
    return st;
}

static double log_likelihood_of(const cri_markov *m)
{
    double sum = 0;
    for (size_t c = 0; c < m->contexts; c++) {
        double        total = 0;
        const double *n = m->counts + c * m->k;
        for (size_t b = 0; b < m->k; b++) total += n[b];
        for (size_t b = 0; b < m->k && total > 0; b++)
            if (n[b] > 0) sum += n[b] * log((n[b] + m->alpha) / (total + m->alpha * (double)m->k));
    }
    return sum;
}

static void markov_release(cr_ctx *cx, void *state)
{
    cri_markov *m = state;
    for (size_t b = 0; m->texts && b < m->k; b++) cri_string_free(cx, m->texts[b]);
    if (m->texts) cr_free(cx, m->texts, m->k, sizeof *m->texts);
    if (m->names) cr_free(cx, m->names, m->k, sizeof *m->names);
    cri_sequence_names_close(cx, &m->known);
    m->texts = NULL, m->names = NULL;
}

/* The symbols, and the sequences, by name. */
static cr_status name_symbols(cr_ctx *cx, const cr_design *d, cri_markov *m)
{
    m->texts = cr_alloc(cx, m->k, sizeof *m->texts);
    m->names = cr_alloc(cx, m->k, sizeof *m->names);
    if (!m->texts || !m->names) return CR_ENOMEM;
    for (size_t b = 0; b < m->k; b++) {
        m->names[b] = m->texts[b] = cri_string_copy(cx, d->columns[0].levels[b]);
        if (!m->texts[b]) return CR_ENOMEM;
    }
    return cri_sequence_names_open(cx, m->labels, m->sequences, &m->known);
}

/* Options that contradict --continuous, and what it needs. */
static cr_status check_continuous(cr_ctx *cx, const cri_rows *rows, const markov_options *o)
{
    if (!o->continuous) return CR_OK;
    if (strcmp(o->order, MARKOV_ORDER) != 0)
        return cr_fail(
            cx, CR_EARG,
            "markov: --order %s contradicts --continuous: what comes next depends on the "
            "last symbol alone",
            o->order);
    if (!cr_options_at_default(cr_option_find(markov_table, "alpha"), o)) {
        cr_fail(cx, CR_EARG,
                "markov: --alpha is of chains in steps: with --continuous it has no effect");
        return cr_fail_hint(cx, "--prior-jumps is the prior there");
    }
    if (rows->design->time) return CR_OK;
    cr_fail(cx, CR_EARG, "markov: --continuous needs the times of the rows");
    return cr_fail_hint(cx, "--time COLUMN");
}

/* Beside the counts: what is learned in discrete time, or in continuous time. */
static cr_status learn(cr_ctx *cx, const cri_rows *rows, const double *symbol,
                       const markov_options *o, uint64_t seed, cri_markov *m, cr_report *report)
{
    report->stop = CR_STOP_CLOSED_FORM;
    if (o->continuous) {
        m->log_evidence = m->tried_evidence[0] = NAN;
        return cri_markov_time_fit(cx, rows, symbol,
                                   &(cri_markov_time_settings){ .prior_jumps = o->prior_jumps,
                                                                .tol = o->tol,
                                                                .max_iter = o->max_iter },
                                   m, report);
    }
    m->log_likelihood = log_likelihood_of(m);
    return cri_markov_find_stationary(cx, seed, m);
}

static void keep_ends(const cri_rows *rows, const double *symbol, cri_markov *m)
{
    const cri_sequences *of = rows->sequences;
    for (size_t i = 0; i < of->n; i++) {
        follower f = follow(m->k, m->order);
        for (size_t t = of->start[i]; t < of->start[i + 1]; t++)
            take(&f, (size_t)symbol[of->row[t]]);
        keep_place(m, &f, m->ends + i * m->place);
    }
}

static cr_status markov_fit(cr_ctx *cx, const cri_rows *rows, const void *options, uint64_t seed,
                            void **out_state, cr_report *report)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const markov_options *o = options;
    const cri_sequences  *of = rows->sequences;
    double               *symbol = cr_scratch_f64(&s, rows->n);
    size_t                from, to;
    cri_markov           *m = cr_alloc(cx, 1, sizeof *m);

    if (!m) CR_TRY(CR_ENOMEM);
    CR_TRY(s.status);
    CR_TRY(read_orders(cx, o->order, &from, &to));
    CR_TRY(check_rows(cx, rows, to));
    CR_TRY(check_continuous(cx, rows, o));
    m->k = rows->design->columns[0].n_levels;
    m->alpha = o->alpha;
    m->tried = to - from + 1;
    m->tried_order = cr_alloc(cx, m->tried, sizeof(double));
    m->tried_evidence = cr_alloc(cx, m->tried, sizeof(double));
    if (!m->tried_order || !m->tried_evidence) CR_TRY(CR_ENOMEM);
    cri_rows_fill_term(rows, 0, 0, rows->n, symbol, 1);
    CR_TRY(choose_order(cx, rows, symbol, from, m));
    m->sequences = of->n, m->rows = (double)rows->n;
    m->place = o->continuous ? CRI_MARKOV_TIME_PLACE : m->order + 1;
    CR_TRY(cri_record_allocate(cx, cri_markov_record, m));
    (o->continuous ? cri_markov_time_ends : keep_ends)(rows, symbol, m);
    CR_TRY(cri_sequence_labels_join(cx, of, &m->labels));
    CR_TRY(learn(cx, rows, symbol, o, seed, m, report));
    CR_TRY(name_symbols(cx, rows->design, m));
    report->log_evidence = m->log_evidence;
    report->log_likelihood = m->log_likelihood;
    *out_state = m;
    m = NULL;
done:
    cri_state_free(cx, &cri_class_markov, m);
    cr_scratch_end(&s);
    return st;
}

/* --- what it knows of the sequences of the fit ------------------------------------------------ */

static void markov_ends(const void *state, size_t *out_n, const double **out_places,
                        const char *const **out_names)
{
    const cri_markov *m = state;
    *out_n = m->sequences, *out_places = m->ends, *out_names = m->known.name;
}

static const char *const *markov_labels(const void *state, size_t *out_n)
{
    const cri_markov *m = state;
    *out_n = m->k;
    return m->names;
}

/* --- file ------------------------------------------------------------------------------------ */

/* A place of the file: whole numbers, but for the time of one in continuous time. */
static bool fits_place(const cri_markov *m, const double *place)
{
    size_t symbols = m->rate ? 1 : m->order;
    if (!(place[0] >= 0 && place[0] == floor(place[0]) && place[0] < 1e15)) return false;
    for (size_t j = 1; j <= symbols; j++)
        if (!(place[j] >= 0 && place[j] == floor(place[j]) && place[j] < (double)m->k))
            return false;
    return true;
}

/* Rates are not below 0, and rows sum to 0. */
static bool fits_rates(const cri_markov *m)
{
    for (size_t a = 0; m->rate && a < m->k; a++) {
        double sum = 0, leave = -m->rate[a * m->k + a];
        for (size_t b = 0; b < m->k; b++) {
            if (a != b && !(m->rate[a * m->k + b] >= 0)) return false;
            sum += m->rate[a * m->k + b];
        }
        if (!(fabs(sum) <= 1e-9 * leave)) return false;
    }
    return !m->rate || (m->rate_sd && m->holding_sd && m->order == 1);
}

static cr_status markov_ready(cr_ctx *cx, void *state, const cr_design *d)
{
    cri_markov *m = state;
    bool fits = d->n_columns == 1 && cr_design_terms(d) == 1 && d->columns[0].n_levels == m->k &&
                m->order <= MOST_ORDER &&
                m->place == (m->rate ? CRI_MARKOV_TIME_PLACE : m->order + 1) &&
                cri_markov_first(m->k, m->order + 1) == m->contexts && fits_rates(m) &&
                (!m->rate || d->time);
    for (size_t i = 0; fits && i < m->sequences; i++) fits = fits_place(m, m->ends + i * m->place);
    for (size_t i = 0; fits && i < m->tried; i++)
        fits = m->tried_order[i] == floor(m->tried_order[i]) && m->tried_order[i] <= MOST_ORDER &&
               (m->rate || isfinite(m->tried_evidence[i]));
    return fits ? name_symbols(cx, d, m) : CR_EDATA;
}

static void markov_choice(const void *state, cri_choice *out)
{
    const cri_markov *m = state;
    *out = (cri_choice){ .n = m->tried,
                         .by = "log evidence",
                         .of = "symbols before a row",
                         .no_value = "it has none",
                         .how = "--order 0:3" };
}

static void markov_candidate(const void *state, size_t i, cri_candidate *out)
{
    const cri_markov *m = state;
    *out = (cri_candidate){ .number = (size_t)m->tried_order[i],
                            .value = m->tried_evidence[i],
                            .chosen = (size_t)m->tried_order[i] == m->order };
}

const cr_model_class cri_class_markov = {
    .example = "examples/weather.csv --features weather --sequence station --order 0:2",
    .name = "markov",
    .summary = "Markov chain of symbols, of any order or in continuous time",
    .formulas =
        "P(x_t = b | the m symbols before are c) = p_cb,  p_c ~ Dirichlet(alpha, .., alpha)\n"
        "next: P(b | c) = (n_cb + alpha) / (n_c + k alpha);  the order m by its evidence\n"
        "--continuous: P(x_t+d = b | x_t = a) = (e^(Q d))_ab,  Q by EM",
    .reference =
        "Kemeny & Snell (1960), Finite Markov Chains; Strelioff, Crutchfield & Huebler (2007), "
        "Physical Review E 76; Bladt & Sorensen (2005), JRSS B 67",
    .tasks = CR_TASK_DENSITY | CR_TASK_CLUSTER,
    .options = markov_table,
    .options_size = sizeof(markov_options),
    .requirements = markov_requirements,
    .default_scale = CR_SCALE_NONE,
    .scales_itself = true,
    .sequences = true,
    .support = CRI_SUPPORT_LEVELS,
    .coding = CRI_CODING_CODE,
    .whole = &(const cri_whole_face){ .fit = markov_fit },
    .rows = &(const cri_rows_face){ .predict = cri_markov_predict,
                                    .labels = markov_labels,
                                    .sample = cri_markov_sample },
    .sequence = &(const cri_sequence_face){ .width = cri_markov_place,
                                            .filter = cri_markov_filter,
                                            .forecast = cri_markov_forecast,
                                            .ends = markov_ends },
    .choice = &(const cri_choice_face){ .choice = markov_choice, .candidate = markov_candidate },
    .describe = cri_markov_describe,
    .statistics = cri_markov_statistics,
    .tables = cri_markov_tables,
    .state = cri_markov_record,
    .state_size = sizeof(cri_markov),
    .ready = markov_ready,
    .release = markov_release,
};

/* test_states.c -- tests on tables of counts.
 * The given variables become one number per row, the stratum: numbers that
 * occur are counted anew from 0 as soon as there could be many more of them than rows, so that memory
 * does not grow with their number.  Each stratum is a table of x by y; where these are many, rows are
 * sorted by stratum (counting sort) and the tables made one after another.  A stratum
 * of one row adds nothing. */
#include "independence.h"
#include "math/special/special.h"

#include <math.h>

enum { FEW = 1 << 16, AT_ONCE = 1 << 13 }; /* strata that are not counted anew */

typedef struct workspace {
    double   *weight;           /* [most_at_once] of the rows by stratum, or tables of all strata */
    double   *count;            /* [states x states] of one stratum, then rows and columns of it */
    uint32_t *stratum, *sorted; /* [rows] of each row; x and y of the rows by stratum */
    uint32_t *begin;            /* [most + 2] where a stratum begins */
} workspace;

/* Numbers that strata can have: few, or as many as rows times the states of one more variable. */
static size_t strata_limit(size_t rows) { return 4 * rows > FEW ? 4 * rows : FEW; }

static size_t most_strata(const cri_state_test *t)
{
    size_t limit = strata_limit(t->data->n), next = t->data->n * t->most_states;
    return limit > next ? limit : next;
}

/* Cells of tables that are counted at once: as many as stay in a cache, or as rows. */
static size_t most_at_once(const cri_state_test *t)
{
    return t->data->n > AT_ONCE ? t->data->n : AT_ONCE;
}

/* Cells of the largest table of two variables, and its margins. */
static size_t most_cells(const cri_state_test *t)
{
    return t->most_states * t->more_states + t->most_states + t->more_states;
}

static size_t workspace_size(const void *arg, size_t most_given)
{
    const cri_state_test *t = arg;
    size_t                rows = t->data->n, strata = most_given > 0 ? most_strata(t) : 0;
    return sizeof(double) * (most_at_once(t) + most_cells(t)) +
           sizeof(uint32_t) * (2 * rows + strata + 2);
}

static workspace lay_out(const cri_state_test *t, void *memory)
{
    workspace w = { .weight = memory };
    size_t    rows = t->data->n;
    w.count = w.weight + most_at_once(t);
    w.stratum = (uint32_t *)(w.count + most_cells(t));
    w.sorted = w.stratum + rows;
    w.begin = w.sorted + rows;
    return w;
}

/* Numbers the strata that occur anew, from 0 in the order of the rows; how many they are. */
static size_t number_anew(const cri_state_test *t, workspace *w, size_t strata)
{
    uint32_t next = 0;
    memset(w->begin, 0xff, strata * sizeof *w->begin);
    for (size_t r = 0; r < t->data->n; r++) {
        uint32_t *number = &w->begin[w->stratum[r]];
        if (*number == UINT32_MAX) *number = next++;
        w->stratum[r] = *number;
    }
    return next;
}

/* The stratum of each row, and how many there can be. */
static size_t make_strata(const cri_state_test *t, workspace *w, size_t k, const size_t *given)
{
    const cri_cases_table *d = t->data;
    size_t                 limit = strata_limit(d->n), strata = 1;
    memset(w->stratum, 0, d->n * sizeof *w->stratum);
    for (size_t i = 0; i < k; i++) {
        const uint16_t *code = d->code[given[i]];
        uint32_t        states = d->levels[given[i]];
        if (strata * states > limit) strata = number_anew(t, w, strata);
        for (size_t r = 0; r < d->n; r++) w->stratum[r] = w->stratum[r] * states + code[r];
        strata *= states;
    }
    return strata > 4 * d->n ? number_anew(t, w, strata) : strata;
}

/* Cells x + X y of the rows, by stratum: those of stratum z are sorted[begin[z]] .. */
static void sort_rows(const cri_state_test *t, workspace *w, size_t strata, size_t x, size_t y)
{
    const cri_cases_table *d = t->data;
    size_t                 X = d->levels[x];
    memset(w->begin, 0, (strata + 1) * sizeof *w->begin);
    for (size_t r = 0; r < d->n; r++) w->begin[w->stratum[r] + 1]++;
    for (size_t z = 0; z < strata; z++) w->begin[z + 1] += w->begin[z];
    for (size_t r = 0; r < d->n; r++) {
        size_t at = w->begin[w->stratum[r]]++;
        w->sorted[at] = (uint32_t)(d->code[x][r] + X * d->code[y][r]);
        w->weight[at] = d->weight[r];
    }
    memmove(w->begin + 1, w->begin, strata * sizeof *w->begin);
    w->begin[0] = 0;
}

typedef struct sums {
    double statistic, df;
} sums;

/* Adds the table of one stratum. */
static void add_table(const cri_state_test *t, workspace *w, const double *count, size_t X,
                      size_t Y, sums *s)
{
    double *row = w->count + X * Y, *column = row + X, total = 0;
    size_t  rows = 0, columns = 0;
    for (size_t i = 0; i < X + Y; i++) row[i] = 0;
    for (size_t j = 0; j < Y; j++)
        for (size_t i = 0; i < X; i++) {
            row[i] += count[i + X * j];
            column[j] += count[i + X * j];
        }
    for (size_t i = 0; i < X; i++) rows += row[i] > 0, total += row[i];
    for (size_t j = 0; j < Y; j++) columns += column[j] > 0;
    if (rows < 2 || columns < 2) return;
    s->df += (double)((rows - 1) * (columns - 1));
    for (size_t j = 0; j < Y; j++)
        for (size_t i = 0; i < X; i++) {
            double n = count[i + X * j], e = row[i] * column[j] / total;
            if (t->statistic == CRI_TEST_X2 && e > 0) s->statistic += (n - e) * (n - e) / e;
            if (t->statistic != CRI_TEST_X2 && n > 0) s->statistic += 2 * n * log(n / e);
        }
}

static sums measure(const cri_state_test *t, workspace *w, size_t x, size_t y, size_t k,
                    const size_t *given)
{
    const cri_cases_table *d = t->data;
    size_t                 X = d->levels[x], Y = d->levels[y], strata = 1;
    sums                   s = { 0 };
    if (k == 0) {
        for (size_t i = 0; i < X * Y; i++) w->count[i] = 0;
        for (size_t r = 0; r < d->n; r++)
            w->count[d->code[x][r] + X * d->code[y][r]] += d->weight[r];
        add_table(t, w, w->count, X, Y, &s);
        return s;
    }
    strata = make_strata(t, w, k, given);
    if (strata * X * Y <= most_at_once(t)) {
        double *count = w->weight; /* all strata at once */
        for (size_t i = 0; i < strata * X * Y; i++) count[i] = 0;
        for (size_t r = 0; r < d->n; r++)
            count[(w->stratum[r] * Y + d->code[y][r]) * X + d->code[x][r]] += d->weight[r];
        for (size_t z = 0; z < strata; z++) add_table(t, w, count + z * X * Y, X, Y, &s);
        return s;
    }
    sort_rows(t, w, strata, x, y);
    for (size_t z = 0; z < strata; z++) {
        if (w->begin[z + 1] - w->begin[z] < 2) continue;
        for (size_t i = 0; i < X * Y; i++) w->count[i] = 0;
        for (size_t i = w->begin[z]; i < w->begin[z + 1]; i++)
            w->count[w->sorted[i]] += w->weight[i];
        add_table(t, w, w->count, X, Y, &s);
    }
    return s;
}

static cri_verdict judge(const void *arg, void *memory, size_t x, size_t y, size_t k,
                         const size_t *given)
{
    const cri_state_test *t = arg;
    workspace             w = lay_out(t, memory);
    double                n = t->data->rows;
    sums                  s = measure(t, &w, x, y, k, given);
    cri_verdict           v = { true, 1, s.statistic / (2 * n) };
    if (n == 0 || s.df == 0) return (cri_verdict){ true, 1, 0 };
    v.p = cr_chi2_sf(fmax(s.statistic, 0), s.df);
    v.independent = t->statistic == CRI_TEST_MI ? s.statistic <= s.df * log(n) : v.p > t->alpha;
    return v;
}

cri_independence cri_independence_states(const cri_state_test *test)
{
    return (cri_independence){ test->data->p, test, workspace_size, judge };
}

cr_status cri_state_test_of(cr_ctx *cx, const cri_cases_table *data, cri_state_statistic statistic,
                            double alpha, cri_state_test *out)
{
    cri_state_test t = { data, statistic, alpha, 1, 1 };
    for (size_t v = 0; v < data->p; v++) {
        size_t states = data->levels[v];
        if (states >= t.most_states)
            t.more_states = t.most_states, t.most_states = states;
        else if (states > t.more_states)
            t.more_states = states;
    }
    if (data->n >= UINT32_MAX / 4 / t.most_states)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "tests of independence take fewer than 2^30 rows times states: %zu x %zu",
                       data->n, t.most_states);
    *out = t;
    return CR_OK;
}

/* test_states.c -- tests on tables of counts.
 * The given variables become one number per row, the stratum: after each of them the numbers that
 * occur are counted anew from 0 as soon as there could be more of them than rows, so that memory
 * does not grow with their number.  Rows are then sorted by stratum (counting sort), and each stratum
 * is a table of x by y.  A stratum of one row adds nothing. */
#include "independence.h"
#include "math/special/special.h"

#include <math.h>

enum { FEW = 1 << 16 }; /* strata that are not counted anew */

typedef struct workspace {
    uint32_t *stratum, *sorted; /* [rows] of each row; x and y of the rows by stratum */
    uint32_t *begin;            /* [most + 1] where a stratum begins */
    uint32_t *count;            /* [states x states] of one stratum, then rows and columns of it */
} workspace;

/* Numbers that strata can have before and after one more variable. */
static size_t most_strata(const cri_state_test *t)
{
    size_t rows = t->data->rows;
    return (rows > FEW ? rows : FEW) * t->most_states;
}

static size_t workspace_size(const void *arg, size_t most_given)
{
    const cri_state_test *t = arg;
    size_t                s = t->most_states;
    return 4 * (2 * t->data->rows + (most_given > 0 ? most_strata(t) : 1) + 2 + s * s + 2 * s);
}

static workspace lay_out(const cri_state_test *t, void *memory)
{
    workspace w = { .stratum = memory };
    size_t    s = t->most_states;
    w.sorted = w.stratum + t->data->rows;
    w.count = w.sorted + t->data->rows;
    w.begin = w.count + s * s + 2 * s;
    return w;
}

static size_t code_of(const cri_state_columns *d, size_t v, size_t row)
{
    return d->narrow[v] ? d->narrow[v][row] : d->wide[v][row];
}

/* The stratum of each row, and how many there can be. */
static size_t make_strata(const cri_state_test *t, workspace *w, size_t k, const size_t *given)
{
    const cri_state_columns *d = t->data;
    size_t                   limit = d->rows > FEW ? d->rows : FEW, strata = 1;
    for (size_t i = 0; i < k; i++) {
        size_t v = given[i], states = d->states[v];
        for (size_t r = 0; r < d->rows; r++)
            w->stratum[r] = (uint32_t)((i > 0 ? w->stratum[r] * states : 0) + code_of(d, v, r));
        strata *= states;
        if (strata <= limit && (i + 1 < k || strata <= 4 * d->rows)) continue;
        uint32_t next = 0;
        memset(w->begin, 0xff, strata * sizeof *w->begin);
        for (size_t r = 0; r < d->rows; r++) {
            uint32_t *number = &w->begin[w->stratum[r]];
            if (*number == UINT32_MAX) *number = next++;
            w->stratum[r] = *number;
        }
        strata = next;
    }
    return strata;
}

/* Cells x + X y of the rows, by stratum: those of stratum z are sorted[begin[z]] .. */
static void sort_rows(const cri_state_test *t, workspace *w, size_t strata, size_t x, size_t y)
{
    const cri_state_columns *d = t->data;
    size_t                   X = d->states[x];
    memset(w->begin, 0, (strata + 1) * sizeof *w->begin);
    for (size_t r = 0; r < d->rows; r++) w->begin[w->stratum[r] + 1]++;
    for (size_t z = 0; z < strata; z++) w->begin[z + 1] += w->begin[z];
    for (size_t r = 0; r < d->rows; r++)
        w->sorted[w->begin[w->stratum[r]]++] = (uint32_t)(code_of(d, x, r) + X * code_of(d, y, r));
    memmove(w->begin + 1, w->begin, strata * sizeof *w->begin);
    w->begin[0] = 0;
}

typedef struct sums {
    double statistic, df;
} sums;

/* Adds the table of one stratum, whose cells are counted in w->count. */
static void add_table(const cri_state_test *t, workspace *w, size_t X, size_t Y, sums *s)
{
    uint32_t *row = w->count + X * Y, *column = row + X;
    size_t    total = 0, rows = 0, columns = 0;
    memset(row, 0, (X + Y) * sizeof *row);
    for (size_t j = 0; j < Y; j++)
        for (size_t i = 0; i < X; i++) {
            row[i] += w->count[i + X * j];
            column[j] += w->count[i + X * j];
        }
    for (size_t i = 0; i < X; i++) rows += row[i] > 0, total += row[i];
    for (size_t j = 0; j < Y; j++) columns += column[j] > 0;
    if (rows < 2 || columns < 2) return;
    s->df += (double)((rows - 1) * (columns - 1));
    for (size_t j = 0; j < Y; j++)
        for (size_t i = 0; i < X; i++) {
            double n = w->count[i + X * j], e = (double)row[i] * column[j] / (double)total;
            if (t->statistic == CRI_TEST_X2 && e > 0) s->statistic += (n - e) * (n - e) / e;
            if (t->statistic != CRI_TEST_X2 && n > 0) s->statistic += 2 * n * log(n / e);
        }
}

static sums measure(const cri_state_test *t, workspace *w, size_t x, size_t y, size_t k,
                    const size_t *given)
{
    const cri_state_columns *d = t->data;
    size_t                   X = d->states[x], Y = d->states[y], strata = 1;
    sums                     s = { 0 };
    if (k == 0) {
        memset(w->count, 0, X * Y * sizeof *w->count);
        for (size_t r = 0; r < d->rows; r++) w->count[code_of(d, x, r) + X * code_of(d, y, r)]++;
        add_table(t, w, X, Y, &s);
        return s;
    }
    strata = make_strata(t, w, k, given);
    sort_rows(t, w, strata, x, y);
    for (size_t z = 0; z < strata; z++) {
        if (w->begin[z + 1] - w->begin[z] < 2) continue;
        memset(w->count, 0, X * Y * sizeof *w->count);
        for (size_t i = w->begin[z]; i < w->begin[z + 1]; i++) w->count[w->sorted[i]]++;
        add_table(t, w, X, Y, &s);
    }
    return s;
}

static cri_verdict judge(const void *arg, void *memory, size_t x, size_t y, size_t k,
                         const size_t *given)
{
    const cri_state_test *t = arg;
    workspace             w = lay_out(t, memory);
    double                n = (double)t->data->rows;
    sums                  s = measure(t, &w, x, y, k, given);
    cri_verdict           v = { true, 1, s.statistic / (2 * n) };
    if (n == 0 || s.df == 0) return (cri_verdict){ true, 1, 0 };
    v.p = cr_chi2_sf(fmax(s.statistic, 0), s.df);
    v.independent = t->statistic == CRI_TEST_MI ? s.statistic <= s.df * log(n) : v.p > t->alpha;
    return v;
}

cri_independence cri_independence_states(const cri_state_test *test)
{
    return (cri_independence){ test->data->n, test, workspace_size, judge };
}

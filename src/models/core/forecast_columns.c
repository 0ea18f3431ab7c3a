/* forecast_columns.c -- columns of rows to come: those beside a target, which are normal, or from the probabilities of
 * hidden states:
 *   p(x_h) = sum_c P(state of row h is c) p(x | c)
 * Each state is drawn from once, whatever the rows, so that what is said of one row goes on smoothly to the next; mean and
 * variance are those of the mixture of the draws, its quantiles are found by halving over the sorted draws. */
#include "sequence.h"
#include "model_internal.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/special/special.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 20000, HALVINGS = 60 };

/* The draws of one column in each state, sorted, and their moments. */
typedef struct column_draws {
    size_t  k;
    double *x;             /* [k x DRAWS] */
    double *mean, *square; /* [k] */
} column_draws;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* from [k x DRAWS x columns] */
static void sort_column(const double *from, size_t columns, size_t j, column_draws *d)
{
    for (size_t c = 0; c < d->k; c++) {
        double *x = d->x + c * DRAWS;
        d->mean[c] = d->square[c] = 0;
        for (size_t i = 0; i < DRAWS; i++) {
            x[i] = from[(c * DRAWS + i) * columns + j];
            d->mean[c] += x[i] / DRAWS;
        }
        for (size_t i = 0; i < DRAWS; i++)
            d->square[c] += (x[i] - d->mean[c]) * (x[i] - d->mean[c]) / DRAWS;
        qsort(x, DRAWS, sizeof *x, compare);
    }
}

/* How many of DRAWS sorted numbers are at most x. */
static size_t count_below(const double *sorted, double x)
{
    size_t low = 0, high = DRAWS;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sorted[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double share_below(const column_draws *d, const double *p, double x)
{
    double sum = 0;
    for (size_t c = 0; c < d->k; c++)
        sum += p[c] * (double)count_below(d->x + c * DRAWS, x) / DRAWS;
    return sum;
}

/* The least number of which at least a share q is not above it. */
static double quantile(const column_draws *d, const double *p, double q)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t c = 0; c < d->k; c++) {
        if (!(p[c] > 0)) continue;
        low = fmin(low, d->x[c * DRAWS]);
        high = fmax(high, d->x[(c + 1) * DRAWS - 1]);
    }
    if (share_below(d, p, low) >= q) return low;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = low + (high - low) / 2;
        if (share_below(d, p, middle) >= q)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static void mix(const column_draws *d, const double *p, double level, double *mean, double *sd,
                double *lower, double *upper)
{
    double square = 0;
    *mean = 0;
    for (size_t c = 0; c < d->k; c++) *mean += p[c] * d->mean[c];
    for (size_t c = 0; c < d->k; c++)
        square += p[c] * (d->square[c] + (d->mean[c] - *mean) * (d->mean[c] - *mean));
    *sd = sqrt(square);
    *lower = quantile(d, p, 0.5 - 0.5 * level);
    *upper = quantile(d, p, 0.5 + 0.5 * level);
}

void cr_forecast_columns_free(cr_ctx *cx, cr_forecast_columns *f)
{
    double **arrays[] = { &f->mean, &f->sd, &f->lower, &f->upper };
    for (size_t i = 0; i < 4; i++) cr_free(cx, *arrays[i], f->n * f->columns, sizeof(double));
    cr_free(cx, f->name, f->columns, sizeof *f->name);
    *f = (cr_forecast_columns){ 0 };
}

static cr_status allocate(cr_ctx *cx, size_t n, size_t columns, cr_forecast_columns *f)
{
    double **arrays[] = { &f->mean, &f->sd, &f->lower, &f->upper };
    bool     there = true;
    f->n = n, f->columns = columns;
    for (size_t i = 0; i < 4; i++)
        there = (*arrays[i] = cr_alloc(cx, n * columns, sizeof(double))) && there;
    f->name = cr_alloc(cx, columns, sizeof *f->name);
    return there && f->name ? CR_OK : CR_ENOMEM;
}

/* The columns that have numbers in the draws. */
static size_t find_columns(const cr_design *d, const double *draws, size_t k, size_t *which)
{
    size_t n = 0;
    for (size_t j = 0; j < d->n_columns; j++) {
        bool number = d->columns[j].type != CR_CATEGORY;
        for (size_t i = 0; number && i < k * DRAWS; i++)
            number = isfinite(draws[i * d->n_columns + j]);
        if (number) which[n++] = j;
    }
    return n;
}

/* Those that are observed beside the target. */
static cr_status put_beside(cr_ctx *cx, const cr_forecast *from, double level,
                            cr_forecast_columns *f)
{
    double    half = cr_norm_ppf(0.5 + 0.5 * level);
    size_t    rows = from->n * from->ahead;
    cr_status st = allocate(cx, rows, from->beside, f);
    for (size_t k = 0; st == CR_OK && k < from->beside; k++) {
        f->name[k] = from->beside_names[k];
        for (size_t i = 0; i < rows; i++) {
            size_t at = i * from->beside + k;
            f->mean[at] = from->beside_mean[k * rows + i];
            f->sd[at] = from->beside_sd[k * rows + i];
            f->lower[at] = f->mean[at] - half * f->sd[at];
            f->upper[at] = f->mean[at] + half * f->sd[at];
        }
    }
    return st;
}

cr_status cr_forecast_columns_of(cr_ctx *cx, const cr_model *m, const cr_forecast *forecast,
                                 double level, cr_forecast_columns *out)
{
    cr_status                st = CR_OK;
    cr_scratch               s = cr_scratch_begin(cx);
    const cri_sequence_face *face = cri_sequence_of(m->class);
    const cr_prediction     *p = &forecast->p;
    size_t                   k = p->n_classes, columns = m->design->n_columns;
    cr_forecast_columns      f = { 0 };
    column_draws             d = { .k = k };
    if (!(level > 0 && level < 1))
        CR_TRY(cr_fail(cx, CR_EARG, "the level of an interval is between 0 and 1"));
    *out = f;
    if (forecast->beside > 0) {
        CR_TRY(put_beside(cx, forecast, level, &f));
        *out = f;
        f = (cr_forecast_columns){ 0 };
    }
    if (!face->draw_labels || !p->prob) goto done;
    double *draws = cr_scratch_matrix(&s, k * DRAWS, columns);
    size_t *which = cr_scratch_index(&s, columns);
    d.x = cr_scratch_matrix(&s, k, DRAWS);
    d.mean = cr_scratch_f64(&s, k), d.square = cr_scratch_f64(&s, k);
    CR_TRY(s.status);
    CR_TRY(face->draw_labels(cx, m->state, m->design, DRAWS, m->fit.seed, draws));
    CR_TRY(allocate(cx, p->n, find_columns(m->design, draws, k, which), &f));
    for (size_t j = 0; j < f.columns; j++) {
        f.name[j] = m->design->columns[which[j]].name;
        CR_TRY(cr_check_interrupt(cx));
        sort_column(draws, columns, which[j], &d);
        for (size_t i = 0; i < p->n; i++) {
            size_t at = i * f.columns + j;
            if (i % 256 == 0) CR_TRY(cr_check_interrupt(cx));
            mix(&d, p->prob + i * k, level, &f.mean[at], &f.sd[at], &f.lower[at], &f.upper[at]);
        }
    }
    *out = f;
    f = (cr_forecast_columns){ 0 };
done:
    cr_forecast_columns_free(cx, &f);
    cr_scratch_end(&s);
    return st;
}

/* gp_periods.c -- the periods of periodic kernels, each over the frequencies of its column.
 * Over a range R two frequencies can be told apart when they differ by 1 / R or so; a period of less
 * than two mean distances of the rows is none that they show.  The evidence by the frequency is as
 * ragged as a periodogram: it is looked at in steps of 1 / (2 R), and the best few are climbed from. */
#include "gp_climb.h"
#include "../../base/scratch.h"
#include "../../math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum { RIVALS = 4, MOST = 200, LENGTHS = 2, SHAPES = 2 };
static const double lengths[LENGTHS] = { 0.6, 2 };
static const double NOISE = 0.05;
static const double shapes[SHAPES] = { 1, 5 }; /* times the length within a period: nearly a sine */

/* true for the free parameter number i of the kernel when it is a period. */
static bool is_period(const cr_kernel *k, size_t i)
{
    const cri_param *p = &k->params[i];
    const cri_node  *node = &k->nodes[p->node];
    return !p->fixed && p->spec->coordinate == CRI_LOG && strcmp(p->spec->shown.name, "p") == 0 &&
           (node->class == &cri_kernel_periodic || node->class == &cri_kernel_cosine);
}

/* The range of the column that it goes over, or the largest of several. */
static double range_of(const cr_kernel *k, const cri_param *p, const cri_gp_data *data)
{
    const cri_node *node = &k->nodes[p->node];
    cr_kernel_input in = cri_gp_inputs(data);
    bool            one = node->n_values[p->spec - node->class->specs] > 1;
    double          range = 0;
    for (size_t c = 0; c < cri_active(node, &in); c++) {
        size_t j = cri_column_at(k, node, c);
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < data->n; i++) {
            low = fmin(low, data->X[i * data->d + j]);
            high = fmax(high, data->X[i * data->d + j]);
        }
        if (!one || c == p->element) range = fmax(range, high - low);
    }
    return range;
}

/* No rivals yet. */
static void begin(const cri_gp_point *best, cri_gp_point *rival, size_t *frequency)
{
    for (size_t i = 0; i < RIVALS; i++) {
        frequency[i] = SIZE_MAX;
        rival[i].value = -INFINITY;
        rival[i].iterations = best->iterations;
    }
}

/* Keeps z among the best, one for each frequency. */
static void keep(const cri_gp_search *u, cri_gp_point *rival, size_t *frequency, const double *z,
                 double value, size_t f)
{
    size_t at = RIVALS - 1;
    for (size_t i = 0; i < RIVALS; i++)
        if (frequency[i] == f) at = i;
    if (!(value > rival[at].value)) return;
    memcpy(rival[at].x, z, u->size * sizeof *z);
    rival[at].value = value;
    frequency[at] = f;
    for (; at > 0 && rival[at].value > rival[at - 1].value; at--) {
        cri_gp_point point = rival[at];
        size_t       of = frequency[at];
        rival[at] = rival[at - 1], frequency[at] = frequency[at - 1];
        rival[at - 1] = point, frequency[at - 1] = of;
    }
}

/* One of the starts: a length over the columns, and one within the periods of the kernel that has
 * parameter number i. */
static void start(const cri_gp_run *r, size_t i, int way, double *z)
{
    const cri_gp_search *u = &r->search;
    const cri_param     *p = r->k->params;
    cri_gp_start(u, lengths[way % LENGTHS], NOISE, z);
    for (size_t a = 0, j = 0; a < r->k->n_params; a++) {
        if (p[a].fixed) continue;
        if (p[a].node == p[i].node && p[a].spec->role == CRI_LENGTH)
            z[j] = fmin(fmax(z[j] + log(shapes[way / LENGTHS]), u->lower[j]), u->upper[j]);
        j++;
    }
}

/* The period i, x_j, at one frequency after the other, with the rest as in `best` and as in some starts. */
static cr_status try_frequencies(cri_gp_run *r, const cri_gp_point *best, size_t i, size_t j,
                                 double range, double *z, cri_gp_point *rival)
{
    cr_status            st = CR_OK;
    const cri_gp_search *u = &r->search;
    size_t n = r->problem->data->n, count = 2 * n < MOST ? 2 * n : MOST, frequency[RIVALS];
    begin(best, rival, frequency);
    for (int way = 0; way <= LENGTHS * SHAPES; way++) {
        if (way < LENGTHS * SHAPES)
            start(r, i, way, z);
        else
            memcpy(z, best->x, u->size * sizeof *z);
        for (size_t f = 1; f <= count; f++) {
            double value, period = log(2 * range / (double)f);
            if (period < u->lower[j] || period > u->upper[j]) continue;
            z[j] = period;
            CR_TRY(cri_gp_try(r, z, false, &value));
            keep(u, rival, frequency, z, value, f);
        }
    }
done:
    return st;
}

static cr_status climb_rivals(cri_gp_run *r, cri_gp_point *rival, cri_gp_point *best)
{
    cr_status st = CR_OK;
    bool      higher;
    for (size_t i = 0; i < RIVALS; i++)
        if (!isinf(rival[i].value)) CR_TRY(cri_gp_climb_rival(r, &rival[i], best, &higher));
done:
    return st;
}

cr_status cri_gp_renew_periods(cri_gp_run *r, cri_gp_point *best)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(r->cx);
    const cri_gp_search *u = &r->search;
    double              *z = cr_scratch_f64(&s, u->size);
    cri_gp_point         rival[RIVALS];

    for (size_t i = 0; i < RIVALS; i++)
        rival[i] = (cri_gp_point){ .x = cr_scratch_f64(&s, u->size) };
    CR_TRY(s.status);
    for (size_t i = 0, j = 0; i < r->k->n_params && cri_gp_may_climb(r, best); i++) {
        double range = is_period(r->k, i) ? range_of(r->k, &r->k->params[i], r->problem->data) : 0;
        if (range > 0) {
            CR_TRY(try_frequencies(r, best, i, j, range, z, rival));
            CR_TRY(climb_rivals(r, rival, best));
        }
        j += !r->k->params[i].fixed;
    }
done:
    cr_scratch_end(&s);
    return st;
}

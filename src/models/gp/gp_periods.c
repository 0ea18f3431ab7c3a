/* gp_periods.c -- the periods of periodic kernels, each over the frequencies of its column.
 * Over a range R two frequencies can be told apart when they differ by 1 / R or so; a period of less
 * than two mean distances of the rows is none that they show.  The evidence by the frequency is as
 * ragged as a periodogram: it is looked at in steps of 1 / (2 R), and the best few are climbed from. */
#include "gp_rivals.h"
#include "../../base/scratch.h"
#include "../../math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum {
    RIVALS = 6,
    MOST = 200,
    LENGTHS = 2,
    SHAPES = 2,
    NOISES = 2,
    WAYS = LENGTHS * SHAPES * NOISES
};
static const double lengths[LENGTHS] = { 0.6, 2 };
static const double noises[NOISES] = { 0.05, 0.5 };
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

/* The logarithm of the period of frequency number f, from 0. */
static double period_of(double range, size_t f) { return log(2 * range / (double)(f + 1)); }

/* One of the starts: a length over the columns, and one within the periods of the kernel that has
 * parameter number i. */
static void start(const cri_gp_run *r, size_t i, int way, double *z)
{
    const cri_gp_search *u = &r->search;
    const cri_param     *p = r->k->params;
    cri_gp_start(u, lengths[way % LENGTHS], noises[way / LENGTHS / SHAPES], z);
    for (size_t a = 0, j = 0; a < r->k->n_params; a++) {
        if (p[a].fixed) continue;
        if (p[a].node == p[i].node && p[a].spec->role == CRI_LENGTH)
            z[j] = fmin(fmax(z[j] + log(shapes[way / LENGTHS % SHAPES]), u->lower[j]), u->upper[j]);
        j++;
    }
}

/* The period x_j at one frequency after the other, the rest as in z; those that are better than
 * their neighbours are kept.  value [count] is room. */
static cr_status try_frequencies(cri_gp_rivals *rivals, size_t j, double range, double *z,
                                 double *value, size_t count)
{
    cr_status            st = CR_OK;
    cri_gp_run          *r = rivals->run;
    const cri_gp_search *u = &r->search;
    for (size_t f = 0; f < count; f++) {
        z[j] = period_of(range, f);
        value[f] = -INFINITY;
        if (z[j] >= u->lower[j] && z[j] <= u->upper[j]) CR_TRY(cri_gp_try(r, z, false, &value[f]));
    }
    for (size_t f = 0; f < count; f++) {
        if ((f > 0 && value[f - 1] > value[f]) || (f + 1 < count && value[f + 1] > value[f]))
            continue;
        z[j] = period_of(range, f);
        cri_gp_rivals_keep(rivals, z, value[f], f);
    }
done:
    return st;
}

/* The period i, x_j, with the rest as in `best` and as in some starts. */
static cr_status renew_period(cri_gp_rivals *rivals, size_t i, size_t j, double range, double *z,
                              double *value, cri_gp_point *best)
{
    cr_status   st = CR_OK;
    cri_gp_run *r = rivals->run;
    size_t      n = r->problem->data->n, count = 2 * n < MOST ? 2 * n : MOST;
    bool        gained;
    cri_gp_rivals_clear(rivals, best);
    bool small = r->task->problem->data->n <= 2 * r->task->screen_rows;
    for (int way = 0; way < (small ? WAYS : WAYS / NOISES); way++) {
        start(r, i, way, z);
        CR_TRY(try_frequencies(rivals, j, range, z, value, count));
    }
    memcpy(z, best->x, r->search.size * sizeof *z);
    CR_TRY(try_frequencies(rivals, j, range, z, value, count));
    CR_TRY(cri_gp_rivals_climb(rivals, best, &gained));
done:
    return st;
}

cr_status cri_gp_renew_periods(cri_gp_run *r, cri_gp_point *best)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(r->cx);
    double       *z = cr_scratch_f64(&s, r->search.size), *value = cr_scratch_f64(&s, MOST);
    cri_gp_rivals rivals;

    CR_TRY(cri_gp_rivals_new(&s, r, RIVALS, &rivals));
    rivals.alike = 1;
    for (size_t i = 0, j = 0; i < r->k->n_params && cri_gp_may_climb(r, best); i++) {
        double range = is_period(r->k, i) ? range_of(r->k, &r->k->params[i], r->problem->data) : 0;
        if (range > 0) CR_TRY(renew_period(&rivals, i, j, range, z, value, best));
        j += !r->k->params[i].fixed;
    }
done:
    cr_scratch_end(&s);
    return st;
}

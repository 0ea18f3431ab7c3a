/* gp_periods.c -- the periods of periodic kernels, each over the frequencies of its column.
 * Over a range R two frequencies can be told apart when they differ by 1 / R or so; a period of less
 * than two mean distances of the rows is none that they show.  The evidence by the frequency is as
 * ragged as a periodogram: it is looked at in steps of 1 / (2 R), and the best few are ascended from. */
#include "gp_rivals.h"
#include "base/scratch.h"
#include "math/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

enum {
    PEAKS = 8,
    RIVALS = 3,
    BESIDE = 50,
    MOST = 200,
    WAYS = 5,
    LENGTHS = 3,
    SHAPES = 2,
    NOISES = 3,
    MULTIPLES = 4
};

/* What a period is looked for with: lengths over the columns, in units; the length within a period,
 * against that given, large for what is nearly a sine; the noise, a share of the target's variance. */
typedef struct way {
    double length, shape, noise;
} way;
static const way ways[WAYS] = {
    { 0.6, 1, 0.05 }, { 2, 1, 0.05 }, { 2, 5, 0.05 }, { 0.5, 1, 0.5 }, { 3, 0.2, 0.05 }
};
/* And then, where it seems to be. */
static const double lengths[LENGTHS] = { 0.2, 0.6, 3 };
static const double shapes[SHAPES] = { 0.3, 1.2 };
static const double noises[NOISES] = { 0.01, 0.1, 0.5 };
/* Shapes of a term that takes over from the noise, its other length, and how much of the noise stays. */
static const double takes[SHAPES] = { 0.15, 0.5 };
static const double multiples[MULTIPLES] = { 0.5, 1 / 3.0, 2, 3 };
static const double TAKES_LENGTH = 5, STAYS = 0.1;

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

/* true for the free parameter a of the kernel when it is the length within the period i. */
static bool is_shape(const cr_kernel *k, size_t a, size_t i)
{
    return k->params[a].node == k->params[i].node && k->params[a].spec->role == CRI_LENGTH;
}

static double within(const cri_gp_space *u, size_t j, double x)
{
    return fmin(fmax(x, u->lower[j]), u->upper[j]);
}

/* z := a start for period number i. */
static void start(const cri_gp_optimiser *r, size_t i, way w, double *z)
{
    const cri_gp_space *u = &r->space;
    cri_gp_start(u, w.length, w.noise, z);
    for (size_t a = 0, j = 0; a < r->k->n_params; a++) {
        if (r->k->params[a].fixed) continue;
        if (is_shape(r->k, a, i)) z[j] = within(u, j, z[j] + log(w.shape));
        j++;
    }
}

/* z := x with the term of period i, x_j, anew, as large as the noise, of which little stays. */
static void take_over(const cri_gp_optimiser *r, const double *x, size_t i, size_t j, double shape,
                      double *z)
{
    const cri_gp_space *u = &r->space;
    double              noise = u->size > u->p ? x[u->p] : log(r->noise);
    memcpy(z, x, u->size * sizeof *z);
    for (size_t a = 0, b = 0; a < r->k->n_params; a++) {
        if (r->k->params[a].fixed) continue;
        if (u->term[b] == u->term[j]) {
            double at = u->given[b];
            if (is_shape(r->k, a, i))
                at = u->given[b] + log(shape);
            else if (u->kind[b] == CRI_GP_LENGTH)
                at = u->unit[b] + (double)u->term[b] * CRI_GP_TERM_STEP + log(TAKES_LENGTH);
            else if (u->kind[b] == CRI_GP_AMPLITUDE)
                at = noise;
            z[b] = within(u, b, at);
        }
        b++;
    }
    if (u->size > u->p) z[u->p] = within(u, u->p, noise + log(STAYS));
}

/* The period x_j at one frequency after the other, the rest as in z; those that are better than
 * their neighbours are kept.  value [count] is workspace. */
static cr_status try_frequencies(cri_gp_rivals *rivals, size_t j, double range, double *z,
                                 double *value, size_t count)
{
    cr_status           st = CR_OK;
    cri_gp_optimiser   *r = rivals->run;
    const cri_gp_space *u = &r->space;
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

/* Other starts at each of the frequencies kept: the best of all there takes its place. */
static cr_status try_peaks(cri_gp_rivals *rivals, size_t i, size_t j, double range, double *z)
{
    cr_status         st = CR_OK;
    cri_gp_optimiser *r = rivals->run;
    size_t            kinds[PEAKS];
    double            value;
    memcpy(kinds, rivals->kind, sizeof kinds);
    for (size_t c = 0; c < PEAKS; c++)
        for (size_t k = 0; kinds[c] != SIZE_MAX && k < LENGTHS * SHAPES * NOISES; k++) {
            way w = { lengths[k % LENGTHS], shapes[k / LENGTHS % SHAPES],
                      noises[k / LENGTHS / SHAPES] };
            start(r, i, w, z);
            z[j] = period_of(range, kinds[c]);
            CR_TRY(cri_gp_try(r, z, false, &value));
            cri_gp_rivals_keep(rivals, z, value, kinds[c]);
        }
done:
    return st;
}

/* Fractions and multiples of the period i, x_j, of `from`, as smooth: a multiple is a peak too, often
 * next to one that is higher. */
static cr_status try_multiples(cri_gp_rivals *rivals, const cri_gp_point *from, size_t i, size_t j,
                               double *z)
{
    cr_status           st = CR_OK;
    cri_gp_optimiser   *r = rivals->run;
    const cri_gp_space *u = &r->space;
    double              value;
    for (size_t m = 0; m < MULTIPLES; m++) {
        memcpy(z, from->x, u->size * sizeof *z);
        z[j] = within(u, j, z[j] + log(multiples[m]));
        for (size_t a = 0, b = 0; a < r->k->n_params; a++) {
            if (r->k->params[a].fixed) continue;
            if (is_shape(r->k, a, i)) z[b] = within(u, b, z[b] - log(multiples[m]));
            b++;
        }
        CR_TRY(cri_gp_try(r, z, false, &value));
        cri_gp_rivals_keep(rivals, z, value, 2 * m);
    }
done:
    return st;
}

/* The period i, x_j, with the rest as in some starts, then as in `best`, and taking over from its
 * noise; then its multiples. */
static cr_status renew_period(cri_gp_rivals *rivals, size_t i, size_t j, double range, double *z,
                              double *value, cri_gp_point *best)
{
    cr_status         st = CR_OK;
    cri_gp_optimiser *r = rivals->run;
    size_t            n = r->problem->data->n, count = 2 * n < MOST ? 2 * n : MOST;
    bool              gained;
    cri_gp_rivals_clear(rivals, best);
    for (size_t w = 0; w < WAYS; w++) {
        start(r, i, ways[w], z);
        CR_TRY(try_frequencies(rivals, j, range, z, value, count));
    }
    CR_TRY(try_peaks(rivals, i, j, range, z));
    CR_TRY(cri_gp_rivals_ascend(rivals, RIVALS, best, &gained));
    cri_gp_rivals_clear(rivals, best);
    memcpy(z, best->x, r->space.size * sizeof *z);
    CR_TRY(try_frequencies(rivals, j, range, z, value, count));
    for (size_t k = 0; r->space.terms > 1 && k < SHAPES; k++) {
        take_over(r, best->x, i, j, takes[k], z);
        CR_TRY(try_frequencies(rivals, j, range, z, value, count));
    }
    CR_TRY(cri_gp_rivals_ascend(rivals, RIVALS, best, &gained));
    cri_gp_rivals_clear(rivals, best);
    CR_TRY(try_multiples(rivals, best, i, j, z));
    CR_TRY(cri_gp_rivals_ascend(rivals, 2, best, &gained));
done:
    return st;
}

/* The period i, x_j, over what the other terms of a sum leave, once one of them explains what it can:
 * where the term of the period has taken their place it does not leave it by itself. */
static cr_status renew_beside(cri_gp_rivals *rivals, size_t i, size_t j, double range, double *z,
                              double *value, cri_gp_point *best)
{
    cr_status           st = CR_OK;
    cri_gp_optimiser   *r = rivals->run;
    const cri_gp_space *u = &r->space;
    cr_scratch          s = cr_scratch_begin(r->cx);
    cri_gp_point        other = { .x = cr_scratch_f64(&s, u->size), .value = -INFINITY };
    size_t              n = r->problem->data->n, count = 2 * n < MOST ? 2 * n : MOST;
    size_t              leader = u->term[j] == 0 ? 1 : 0;
    bool                gained;

    CR_TRY(s.status);
    CR_TRY(cri_gp_lead_by_term(r, leader, &other));
    if (isinf(other.value)) goto done;
    CR_TRY(cri_gp_ascend(r, false, CRI_GP_ROUGH, BESIDE, NULL, &other));
    cri_gp_rivals_clear(rivals, best);
    for (size_t k = 0; k < SHAPES; k++) {
        take_over(r, other.x, i, j, takes[k], z);
        CR_TRY(try_frequencies(rivals, j, range, z, value, count));
    }
    CR_TRY(cri_gp_rivals_ascend(rivals, RIVALS, best, &gained));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_renew_periods(cri_gp_optimiser *r, cri_gp_point *best)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(r->cx);
    double       *z = cr_scratch_f64(&s, r->space.size), *value = cr_scratch_f64(&s, MOST);
    cri_gp_rivals rivals;

    CR_TRY(cri_gp_rivals_new(&s, r, PEAKS, &rivals));
    rivals.alike = 1;
    for (size_t i = 0, j = 0; i < r->k->n_params && cri_gp_may_ascend(r, best); i++) {
        double range = is_period(r->k, i) ? range_of(r->k, &r->k->params[i], r->problem->data) : 0;
        if (range > 0 && r->space.terms > 1 && r->problem == r->learning->problem) /* few rows */
            CR_TRY(renew_beside(&rivals, i, j, range, z, value, best));
        if (range > 0) CR_TRY(renew_period(&rivals, i, j, range, z, value, best));
        j += !r->k->params[i].fixed;
    }
done:
    cr_scratch_end(&s);
    return st;
}

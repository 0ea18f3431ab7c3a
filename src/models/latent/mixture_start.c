/* mixture_start.c -- starts of EM for a mixture of columns of mixed kinds.
 * Of some of the rows k are drawn, each the likelier the further it is from those before it (k-means++: Arthur &
 * Vassilvitskii 2007, SODA); the rows nearest to each make up a component, drawn towards all rows together.  Of a few
 * such beginnings, each followed by EM on these rows for a few steps, the highest is the start (Biernacki, Celeux &
 * Govaert 2003, Comp. Stat. & Data Analysis 41).  From the best end so far other starts are made by moving one component
 * to where another row is, again the highest of a few (Zhao, Hautamaki, Karkkainen & Franti 2012, Pattern Rec. 45). */
#include "mixture.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { BEGINNINGS = 3, SHORT_RUN = 5, LONG_RUN = 20 };
static const double FIRM = 2;            /* rows like all together that a beginning is drawn by */
static const double SWAP_EFFORT = 60000; /* rows times components of all swaps of a start */

/* How far two cells are apart: about 1 on average for numbers of any kind, 1 for another level. */
static double cell_distance(const cri_mixture *m, size_t j, double x, double y)
{
    double d;
    if (isnan(x) || isnan(y)) return 0.5;
    switch (cri_mixture_kind_of(m, j)) {
    case CRI_MIXTURE_GAUSSIAN:
        d = (x - y) / m->scale[j];
        return 0.5 * d * d;
    case CRI_MIXTURE_LOGNORMAL:
        d = log(x / y) / m->scale[j];
        return 0.5 * d * d;
    case CRI_MIXTURE_POISSON:
        return 0.5 * (x - y) * (x - y) / (m->overall[j] + 1);
    case CRI_MIXTURE_BERNOULLI:
        return (x > m->threshold[j]) != (y > m->threshold[j]);
    default:
        return x != y;
    }
}

static double row_distance(const cri_mixture *m, const double *x, const double *y)
{
    double sum = 0;
    for (size_t j = 0; j < m->p; j++) sum += cell_distance(m, j, x[j], y[j]);
    return sum;
}

/* A row, each as often as its weight times `opt_by` says; the last one where all are 0. */
static size_t draw_row(const cri_mixture_rows *rows, const double *opt_by, cr_rng *r)
{
    double total = 0, left;
    for (size_t i = 0; i < rows->n; i++) total += rows->w[i] * (opt_by ? opt_by[i] : 1);
    if (!(total > 0 && isfinite(total)) && opt_by) return draw_row(rows, NULL, r);
    left = total * cr_rng_uniform(r);
    for (size_t i = 0; i < rows->n; i++) {
        left -= rows->w[i] * (opt_by ? opt_by[i] : 1);
        if (left < 0) return i;
    }
    return rows->n - 1;
}

/* Draws rows that are far apart: nearest [n] says to which of them each is nearest, at distance [n]. */
static cr_status draw_groups(cr_ctx *cx, const cri_mixture_rows *rows, const cri_mixture *m,
                             cr_rng *r, double *distance, size_t *nearest)
{
    for (size_t i = 0; i < rows->n; i++) distance[i] = INFINITY;
    for (size_t c = 0; c < m->k; c++) {
        size_t    at = draw_row(rows, c ? distance : NULL, r);
        cr_status st = cr_check_interrupt(cx);
        if (st != CR_OK) return st;
        for (size_t i = 0; i < rows->n; i++) {
            double x = row_distance(m, rows->X + i * m->p, rows->X + at * m->p);
            if (x < distance[i]) distance[i] = x, nearest[i] = c;
        }
    }
    return CR_OK;
}

/* The parameters of all rows together for each component: what the statistics of a beginning are taken about. */
static void level_out(cri_mixture *m)
{
    for (size_t c = 0; c < m->k; c++) {
        m->share[c] = 1 / (double)m->k;
        for (size_t j = 0; j < m->p; j++) {
            m->mean[c * m->p + j] = cri_mixture_is_linear(m->kind[j]) ? m->overall[j] : 0;
            m->sd[c * m->p + j] = 1;
        }
        if (m->L) memcpy(m->level + c * m->L, m->overall_level, m->L * sizeof(double));
    }
    cri_mixture_prepare(m);
}

/* Parameters of the groups, drawn towards all rows by FIRM of them. */
static void describe_groups(const cri_mixture_rows *rows, const size_t *nearest, double *part,
                            double *work, cri_mixture *m)
{
    double           prior = m->prior_rows, variance = m->prior_variance;
    cri_mixture_part s;
    memset(part, 0, cri_mixture_part_size(m) * sizeof *part);
    level_out(m);
    cri_mixture_add_groups(m, rows->X, rows->w, nearest, rows->n, part, work);
    s = cri_mixture_part_at(m, part);
    for (size_t c = 0; c < m->k; c++) s.n[c] = fmax(s.n[c], 1e-3 * rows->w[0]);
    m->prior_rows = FIRM, m->prior_variance = 1;
    cri_mixture_solve_part(m, part);
    m->prior_rows = prior, m->prior_variance = variance;
}

/* A few steps on the rows of the start; the objective they reach, -INFINITY where they get lost or end in a flat
 * component. */
static cr_status short_run(cr_ctx *cx, const cri_mixture_rows *rows, size_t steps, double *sums,
                           double *work, cri_mixture *m, double *out)
{
    size_t width = 2 + cri_mixture_part_size(m);
    *out = -INFINITY;
    for (size_t step = 0; !m->lost; step++) {
        cr_status st = cr_check_interrupt(cx);
        if (st != CR_OK) return st;
        memset(sums, 0, width * sizeof *sums);
        cri_mixture_add(m, rows->X, rows->w, rows->n, sums, work);
        double objective = sums[0] + cri_mixture_log_prior(m);
        if (!isfinite(objective)) return CR_OK;
        if (step == steps) {
            if (!cri_mixture_is_flat(m, rows->least)) *out = objective;
            return CR_OK;
        }
        cri_mixture_solve_part(m, sums + 2);
    }
    return CR_OK;
}

/* A state like m to keep parameters in, and memory for short runs. */
typedef struct workshop {
    cri_mixture *kept;
    double      *sums, *work;
} workshop;

static cr_status open_workshop(cr_ctx *cx, cr_scratch *s, const cri_mixture *m, workshop *out)
{
    cr_status st = CR_OK;
    out->sums = cr_scratch_f64(s, 2 + cri_mixture_part_size(m));
    out->work = cr_scratch_f64(s, cri_mixture_work(m));
    CR_TRY(s->status);
    CR_TRY(cri_mixture_new(cx, m->k, m->p, m->L, 1, &out->kept));
    memcpy(out->kept->kind, m->kind, m->p * sizeof *m->kind);
    memcpy(out->kept->first, m->first, m->p * sizeof *m->first);
    cri_mixture_place(out->kept);
done:
    return st;
}

cr_status cri_mixture_start(cr_ctx *cx, const cri_mixture_rows *rows, bool bare, cr_rng *rng,
                            cri_mixture *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    workshop   w = { 0 };
    size_t     steps = bare || m->k == 1 ? 0 : SHORT_RUN;
    double    *distance = cr_scratch_f64(&s, rows->n), best = -INFINITY, reached = -INFINITY;
    size_t    *nearest = cr_scratch_index(&s, rows->n);

    CR_TRY(open_workshop(cx, &s, m, &w));
    for (size_t b = 0; b < (steps == 0 ? 1 : BEGINNINGS); b++) {
        CR_TRY(draw_groups(cx, rows, m, rng, distance, nearest));
        describe_groups(rows, nearest, w.sums, w.work, m);
        if (b == 0) cri_mixture_take(m, w.kept); /* where all of them get lost */
        CR_TRY(short_run(cx, rows, steps, w.sums, w.work, m, &reached));
        if (reached > best) best = reached, cri_mixture_take(m, w.kept);
    }
    cri_mixture_take(w.kept, m);
done:
    cri_state_free(cx, &cri_class_mixture, w.kept);
    cr_scratch_end(&s);
    return st;
}

/* Component c goes to a row: half-way between it and all rows, with `spread` times the average sd, and an equal
 * share. */
static void move_component(const cri_mixture *end, size_t c, const double *x, double spread,
                           cri_mixture *m)
{
    size_t p = m->p, k = m->k;
    double rest = 1 - m->share[c];
    for (size_t i = 0; i < k; i++)
        m->share[i] = i == c ? 1 / (double)k
                             : (rest > 0 ? m->share[i] / rest : 1 / (double)(k - 1)) *
                                   (double)(k - 1) / (double)k;
    for (size_t j = 0; j < p; j++) {
        cri_mixture_kind kind = cri_mixture_kind_of(m, j);
        double          *mean = &m->mean[c * p + j], sd = 0;
        bool             there = !isnan(x[j]);
        for (size_t i = 0; i < k; i++) sd += end->sd[i * p + j] / (double)k;
        if (cri_mixture_is_real(kind)) {
            double of = kind == CRI_MIXTURE_LOGNORMAL ? log(x[j]) : x[j];
            *mean = there ? (of - m->centre[j]) / m->scale[j] : 0;
            m->sd[c * p + j] = spread * sd;
        } else if (kind == CRI_MIXTURE_CATEGORY) {
            double *level = m->level + c * m->L + m->first[j];
            for (size_t l = 0; l < cri_mixture_levels(m, j); l++)
                level[l] = (there ? 0.5 : 1) * m->overall_level[m->first[j] + l] +
                           (there && l == (size_t)x[j] ? 0.5 : 0);
        } else {
            double y = kind == CRI_MIXTURE_BERNOULLI ? x[j] > m->threshold[j] : x[j];
            *mean = there ? 0.5 * (y + m->overall[j]) : m->overall[j];
        }
    }
    cri_mixture_prepare(m);
}

cr_status cri_mixture_swap(cr_ctx *cx, const cri_mixture_rows *rows, const cri_mixture *end,
                           cr_rng *rng, cri_mixture *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    workshop   w = { 0 };
    double     best = -INFINITY, reached = -INFINITY;
    size_t     swaps = (size_t)fmin(fmax(SWAP_EFFORT / (double)(rows->n * m->k), 8), 40);

    CR_TRY(open_workshop(cx, &s, m, &w));
    cri_mixture_take(end, w.kept);
    for (size_t b = 0; b < swaps; b++) {
        size_t c = (size_t)cr_rng_below(rng, m->k), row = draw_row(rows, NULL, rng);
        double spread = pow(10, -fmax(2 * cr_rng_uniform(rng) - 1, 0));
        cri_mixture_take(end, m);
        move_component(end, c, rows->X + row * m->p, spread, m);
        CR_TRY(short_run(cx, rows, LONG_RUN, w.sums, w.work, m, &reached));
        if (reached > best) best = reached, cri_mixture_take(m, w.kept);
    }
    cri_mixture_take(w.kept, m);
done:
    cri_state_free(cx, &cri_class_mixture, w.kept);
    cr_scratch_end(&s);
    return st;
}

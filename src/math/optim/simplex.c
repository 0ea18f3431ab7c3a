/* simplex.c -- the simplex method of Nelder & Mead (1965), Computer J. 7, with coefficients that
 * depend on the dimension (Gao & Han 2012, Comput. Optim. Appl. 51).  Points are moved into the
 * box. When the simplex has closed it is opened again around its best point, until that no longer
 * helps: a simplex may close where there is no minimum (McKinnon 1998). */
#include "run.h"

#include <math.h>
#include <string.h>

typedef struct simplex {
    cri_run *run;
    size_t   n, k;                  /* variables; those that are not fixed by their bounds  */
    size_t  *free;                  /* [k]                                                  */
    double  *x, *f;                 /* [k+1 x n], [k+1]: vertices and their values          */
    double  *centre, *try, *second; /* [n]                                          */
    size_t   best, worst, next;     /* vertices: lowest, highest, second highest    */
} simplex;

static cr_status value(simplex *s, double *x, double *out_f)
{
    for (size_t i = 0; i < s->n; i++) x[i] = cri_run_clamp(s->run, i, x[i]);
    cr_status st = cri_run_evaluate(s->run, x, out_f, NULL);
    if (isnan(*out_f)) *out_f = INFINITY;
    return st;
}

static void rank_vertices(simplex *s)
{
    s->best = s->worst = 0;
    for (size_t v = 1; v <= s->k; v++) {
        if (s->f[v] < s->f[s->best]) s->best = v;
        if (s->f[v] >= s->f[s->worst]) s->worst = v;
    }
    s->next = s->best;
    for (size_t v = 0; v <= s->k; v++)
        if (v != s->worst && s->f[v] > s->f[s->next]) s->next = v;
}

/* A right-angled simplex around the best point, edges `size` times max(1, |x|). */
static cr_status open_simplex(simplex *s, double size)
{
    cr_status st = CR_OK;
    memcpy(s->x, s->run->x, s->n * sizeof *s->x);
    s->f[0] = s->run->f;
    for (size_t v = 1; v <= s->k; v++) {
        double *x = s->x + v * s->n;
        size_t  i = s->free[v - 1];
        double  h = size * fmax(1, fabs(s->run->x[i]));
        memcpy(x, s->run->x, s->n * sizeof *x);
        bool up = s->run->x[i] + h <= cri_run_upper(s->run, i) ||
                  cri_run_upper(s->run, i) - x[i] >= x[i] - cri_run_lower(s->run, i);
        x[i] += up ? h : -h;
        CR_TRY(value(s, x, &s->f[v]));
    }
    rank_vertices(s);
done:
    return st;
}

/* out = centre + t (worst - centre), and its value. */
static cr_status along(simplex *s, double t, double *out, double *out_f)
{
    const double *worst = s->x + s->worst * s->n;
    for (size_t i = 0; i < s->n; i++) out[i] = s->centre[i] + t * (worst[i] - s->centre[i]);
    return value(s, out, out_f);
}

static void find_centre(simplex *s)
{
    memset(s->centre, 0, s->n * sizeof *s->centre);
    for (size_t v = 0; v <= s->k; v++)
        for (size_t i = 0; v != s->worst && i < s->n; i++)
            s->centre[i] += s->x[v * s->n + i] / (double)s->k;
}

static void replace_worst(simplex *s, const double *x, double f)
{
    memcpy(s->x + s->worst * s->n, x, s->n * sizeof *x);
    s->f[s->worst] = f;
}

static cr_status shrink(simplex *s, double by)
{
    cr_status st = CR_OK;
    for (size_t v = 0; v <= s->k; v++) {
        if (v == s->best) continue;
        for (size_t i = 0; i < s->n; i++) {
            double b = s->x[s->best * s->n + i];
            s->x[v * s->n + i] = b + by * (s->x[v * s->n + i] - b);
        }
        CR_TRY(value(s, s->x + v * s->n, &s->f[v]));
    }
done:
    return st;
}

/* One step: reflect, then expand, contract or shrink. */
static cr_status move(simplex *s)
{
    cr_status st = CR_OK;
    double    k = (double)s->k, f, g;
    double    expand = k > 1 ? 1 + 2 / k : 2, contract = k > 1 ? 0.75 - 0.5 / k : 0.5;
    find_centre(s);
    CR_TRY(along(s, -1, s->try, &f));
    if (f < s->f[s->best]) {
        CR_TRY(along(s, -expand, s->second, &g));
        if (g < f)
            replace_worst(s, s->second, g);
        else
            replace_worst(s, s->try, f);
    } else if (f < s->f[s->next]) {
        replace_worst(s, s->try, f);
    } else {
        bool outside = f < s->f[s->worst];
        CR_TRY(along(s, outside ? -contract : contract, s->second, &g));
        if (outside ? g <= f : g < s->f[s->worst])
            replace_worst(s, s->second, g);
        else
            CR_TRY(shrink(s, k > 1 ? 1 - 1 / k : 0.5));
    }
    rank_vertices(s);
done:
    return st;
}

static bool closed(const simplex *s)
{
    const cr_minimize_options *o = s->run->options;
    double                     spread = s->f[s->worst] - s->f[s->best], widest = 0;
    if (!(spread <= o->f_tolerance * fmax(1, fabs(s->f[s->best])))) return false;
    for (size_t v = 0; v <= s->k; v++)
        for (size_t i = 0; i < s->n; i++) {
            double b = s->x[s->best * s->n + i];
            widest = fmax(widest, fabs(s->x[v * s->n + i] - b) / fmax(1, fabs(b)));
        }
    return widest <= fmax(o->x_tolerance, 1e-7);
}

/* The best vertex becomes the current point. */
static void keep_best(simplex *s)
{
    memcpy(s->run->x, s->x + s->best * s->n, s->n * sizeof *s->x);
    s->run->f = s->f[s->best];
}

/* Moves until the simplex has closed (*out_over false) or a limit is reached. */
static cr_status close_simplex(simplex *s, bool *out_over)
{
    cr_status st = CR_OK;
    *out_over = false;
    while (!closed(s) && !*out_over) {
        CR_TRY(cri_run_tick(s->run));
        CR_TRY(move(s));
        keep_best(s);
        s->run->report->iterations++;
        cri_trace_add(s->run->report, s->run->f);
        *out_over = cri_run_at_end(s->run);
    }
    keep_best(s);
done:
    return st;
}

cr_status cri_minimize_simplex(cri_run *run)
{
    cr_status   st = CR_OK;
    cr_scratch *scratch = run->scratch;
    size_t      n = run->n;
    simplex     s = { .run = run,
                      .n = n,
                      .free = cr_scratch_index(scratch, n),
                      .x = cr_scratch_matrix(scratch, n + 1, n),
                      .f = cr_scratch_f64(scratch, n + 1),
                      .centre = cr_scratch_f64(scratch, n),
                      .try = cr_scratch_f64(scratch, n),
                      .second = cr_scratch_f64(scratch, n) };
    double      before = INFINITY, size = 0.1;
    bool        over = false;

    CR_TRY(scratch->status);
    for (size_t i = 0; i < n; i++)
        if (cri_run_lower(run, i) < cri_run_upper(run, i)) s.free[s.k++] = i;
    run->report->stop = CR_END_F;
    while (!over && s.k > 0 &&
           before - run->f > run->options->f_tolerance * fmax(1, fabs(run->f))) {
        before = run->f;
        CR_TRY(open_simplex(&s, size));
        CR_TRY(close_simplex(&s, &over));
        size = 0.02;
    }
done:
    return st;
}

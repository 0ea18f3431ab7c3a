/* family.c -- exponential families: natural parameters, statistics, log-partition. */
#include "check.h"
#include "base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const cri_vector_family *vector_family(const cr_dist_class *c)
{
    return c->vector ? c->vector->family : NULL;
}

size_t cr_dist_natural_count(const cr_dist_class *c, size_t n)
{
    const cri_vector_family *v = vector_family(c);
    size_t                   d = cri_dist_dimension(c, n);
    if (d == 0 || (!v && !c->family)) return 0;
    if (v) return v->count(d);
    if (!c->family->statistics) return 1;
    return c->family->count ? c->family->count(n) : c->family->n_statistics;
}

/* A name with its number where it says %zu. */
static void number_name(const char *name, size_t i, char *out, size_t size)
{
    const char *mark = strstr(name, "%zu");
    if (mark)
        snprintf(out, size, "%.*s%zu%s", (int)(mark - name), name, i + 1, mark + 3);
    else
        snprintf(out, size, "%s", name);
}

void cr_dist_statistic_name(const cr_dist_class *c, size_t n, size_t i, char *out, size_t size)
{
    const cri_vector_family *v = vector_family(c);
    snprintf(out, size, "%s", c->family ? "x" : "");
    if (i >= cr_dist_natural_count(c, n)) return;
    if (v)
        v->name(cri_dist_dimension(c, n), i, out, size);
    else if (c->family->statistics) {
        size_t last = c->family->n_statistics - 1;
        number_name(c->family->statistics[i < last ? i : last], i, out, size);
    }
}

void cri_dist_statistic(const cr_dist_class *c, cri_par p, double x, double *t)
{
    if (c->family->statistic)
        c->family->statistic(p, x, t);
    else
        t[0] = x;
}

static cr_status check_natural(cr_ctx *cx, const cr_dist_class *c, const double *eta, size_t k)
{
    for (size_t i = 0; i < k; i++)
        if (!isfinite(eta[i]))
            return cr_fail(cx, CR_ENUMERIC,
                           "%s: natural parameters do not exist for these parameters", c->name);
    return CR_OK;
}

static cr_status vector_natural(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t d,
                                double *eta, double *mean, double *log_partition)
{
    cr_status                st = CR_OK;
    const cri_vector        *v = c->vector;
    const cri_vector_family *f = v->family;
    cr_scratch               s = cr_scratch_begin(cx);
    double                  *work = cr_scratch_f64(&s, v->work ? v->work(d) : 0);
    double                  *spare = cr_scratch_f64(&s, f->spare ? f->spare(d) : 0);
    CR_TRY(s.status);
    if (v->prepare) CR_TRY(v->prepare(cx, params, d, work));
    f->natural(params, d, work, eta, spare);
    CR_TRY(check_natural(cx, c, eta, f->count(d)));
    f->mean(params, d, work, mean, spare);
    *log_partition = f->log_partition(params, d, eta, spare);
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status scalar_natural(cr_ctx *cx, const cr_dist_class *c, cri_par p, size_t k,
                                double *eta, double *mean, double *log_partition)
{
    c->family->natural(p, eta);
    cr_status st = check_natural(cx, c, eta, k);
    if (st != CR_OK) return st;
    if (c->family->mean)
        c->family->mean(p, mean);
    else
        mean[0] = c->mean(p);
    *log_partition = c->family->log_partition(p, eta);
    return CR_OK;
}

cr_status cr_dist_natural(cr_ctx *cx, const cr_dist_class *c, const double *params, size_t n,
                          double *out_eta, double *out_mean, double *out_log_partition)
{
    cr_status  st = CR_OK;
    size_t     k = cr_dist_natural_count(c, n);
    cr_scratch s = cr_scratch_begin(cx);
    double    *eta = cr_scratch_f64(&s, k), *mean = cr_scratch_f64(&s, k), A = NAN;
    CR_TRY(s.status);
    if (!c->family && !vector_family(c)) CR_TRY(cri_not_offered(cx, c, "natural parameters"));
    CR_TRY(cr_dist_check(cx, c, params, n));
    if (c->vector)
        CR_TRY(vector_natural(cx, c, params, cri_dist_dimension(c, n), eta, mean, &A));
    else
        CR_TRY(scalar_natural(cx, c, (cri_par){ params, n }, k, eta, mean, &A));
    if (k > 0) memcpy(out_eta, eta, k * sizeof *eta), memcpy(out_mean, mean, k * sizeof *mean);
    *out_log_partition = A;
done:
    cr_scratch_end(&s);
    return st;
}

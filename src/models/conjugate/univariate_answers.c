/* univariate_answers.c -- what conjugate models of single columns say: densities, the next value,
 * draws, descriptions. */
#include "univariate.h"
#include "base/context_internal.h"
#include "base/parallel.h"
#include "prob/dist/dist_class.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256 };

/* --- densities ------------------------------------------------------------------------------- */

typedef struct scoring {
    const cri_conjugate        *m;
    const cri_rows             *rows;
    const cri_named            *predictive; /* [n] */
    const cr_dist_class *const *dists; /* [n] of the registry; NULL where the family has its own */
    double                     *out;
} scoring;

static void score_block(void *arg, size_t b)
{
    const scoring       *a = arg;
    const cri_conjugate *m = a->m;
    cri_range            r = cri_block_range(a->rows->n, BLOCK, b);
    double               x[BLOCK];
    for (size_t i = r.begin; i < r.end; i++) a->out[i] = 0;
    for (size_t j = 0; j < m->n; j++) {
        const double *params = m->params + j * m->n_params, *work = m->work + j * m->n_work;
        cri_par       p = { a->predictive[j].values, a->predictive[j].n };
        cri_rows_fill_term(a->rows, j, r.begin, r.end, x, 1);
        for (size_t i = r.begin; i < r.end; i++) {
            double value = x[i - r.begin];
            bool   possible = cri_design_is_code(a->rows->design, j) || !isnan(m->above[j]) ||
                            m->family->valid(m->prior, value);
            if (m->family->binary) value = cri_conjugate_success(m, j, value);
            if (!possible)
                a->out[i] = -INFINITY;
            else
                a->out[i] += a->dists[j] ? cri_dist_logpdf(a->dists[j], p, value)
                                         : m->family->log_predictive(params, work, value);
        }
    }
}

cr_status cri_conjugate_predict(cr_ctx *cx, const void *state, const cri_rows *rows,
                                cr_prediction *out)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cri_conjugate  *m = state;
    cri_named            *predictive = cr_scratch_bytes(&s, m->n, sizeof *predictive);
    const cr_dist_class **dists = cr_scratch_bytes(&s, m->n, sizeof *dists);

    CR_TRY(s.status);
    for (size_t j = 0; j < m->n; j++) {
        predictive[j] = m->family->predictive(m->params + j * m->n_params);
        if (m->family->log_predictive) continue;
        dists[j] = cr_dist_find(cx, predictive[j].family);
        if (!dists[j]) CR_TRY(CR_EARG);
    }
    scoring a = { m, rows, predictive, dists, out->log_density };
    CR_TRY(cri_parallel_for(cx, "scoring", cri_block_count(rows->n, BLOCK), score_block, &a));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- the next value -------------------------------------------------------------------------- */

/* Column j as number k of the prediction. */
static void next_number(const cri_named *d, const cr_dist_class *c, size_t k, cr_prediction *out)
{
    cri_par p = { d->values, d->n };
    bool    t = strcmp(d->family, "student-t") == 0, normal = strcmp(d->family, "normal") == 0;
    out->dof[k] = t ? d->values[0] : INFINITY;
    out->mean[k] = t ? d->values[1] : normal ? d->values[0] : c->mean(p);
    out->scale[k] = t ? d->values[2] : normal ? d->values[1] : sqrt(c->variance(p));
    if (out->params) memcpy(out->params + k * d->n, d->values, d->n * sizeof(double));
}

cr_status cri_conjugate_next(cr_ctx *cx, const void *state, const cr_design *design,
                             cr_prediction *out)
{
    cr_status            st = CR_OK;
    const cri_conjugate *m = state;
    cri_named            d = m->family->predictive(m->params);
    const cr_dist_class *c = cr_dist_find(cx, d.family);
    bool own = strcmp(d.family, "student-t") == 0 || strcmp(d.family, "normal") == 0;
    if (!c) return CR_EARG;
    if (!own) CR_TRY(cri_prediction_family(cx, out, d.family, d.n));
    for (size_t j = 0, k = 0; j < m->n; j++) {
        if (design->columns[j].type == CR_CATEGORY) continue;
        d = m->family->predictive(m->params + j * m->n_params);
        bool turned = m->family->binary && m->success[j] == 0; /* a success is a 0 in the data */
        if (turned) d.values[0] = 1 - d.values[0];
        next_number(&d, c, k++, out);
    }
done:
    return st;
}

/* A success of category j, and what else there is: the other level of two, or "not" the success. */
static cr_status next_pair(cr_ctx *cx, const cri_conjugate *m, const cri_design_column *c, size_t j,
                           size_t at, cr_levels *out)
{
    cr_status   st = CR_OK;
    size_t      success = (size_t)m->success[j];
    bool        two = c->n_levels == 2;
    const char *other = c->levels[two ? 1 - success : success];
    out->prob[at] = m->family->predictive(m->params + j * m->n_params).values[0];
    out->prob[at + 1] = 1 - out->prob[at];
    CR_TRY(cri_levels_name(cx, out, at, "", c->levels[success]));
    CR_TRY(cri_levels_name(cx, out, at + 1, two ? "" : "not ", other));
done:
    return st;
}

cr_status cri_conjugate_next_levels(cr_ctx *cx, const void *state, const cr_design *design,
                                    cr_levels *out)
{
    cr_status            st = CR_OK;
    const cri_conjugate *m = state;
    size_t               n = 0;
    for (size_t j = 0; j < m->n; j++) n += design->columns[j].type == CR_CATEGORY;
    CR_TRY(cri_levels_new(cx, n, 2 * n, out));
    for (size_t j = 0, k = 0; j < m->n; j++) {
        if (design->columns[j].type != CR_CATEGORY) continue;
        out->column[k] = j;
        out->first[k] = 2 * k;
        CR_TRY(next_pair(cx, m, &design->columns[j], j, 2 * k, out));
        k++;
    }
done:
    return st;
}

/* --- draws ----------------------------------------------------------------------------------- */

typedef struct drawing {
    const cri_conjugate *m;
    uint64_t             seed;
    size_t               count;
    double              *out;
} drawing;

/* Every draw has a stream of its own. */
static void draw_block(void *arg, size_t b)
{
    const drawing       *a = arg;
    const cri_conjugate *m = a->m;
    cri_range            r = cri_block_range(a->count, BLOCK, b);
    for (size_t i = r.begin; i < r.end; i++) {
        cr_rng rng = cr_rng_stream(a->seed, i);
        for (size_t j = 0; j < m->n; j++) {
            double x = m->family->draw(m->params + j * m->n_params, m->work + j * m->n_work, &rng);
            if (m->family->binary) x = x == 1 ? m->success[j] : 1 - m->success[j];
            a->out[i * m->n + j] = x;
        }
    }
}

cr_status cri_conjugate_sample(cr_ctx *cx, const void *state, const cr_design *design,
                               const cri_rows *opt_rows, size_t count, uint64_t seed, double *out)
{
    const cri_conjugate *m = state;
    drawing              a = { m, seed, count, out };
    (void)opt_rows;
    for (size_t j = 0; m->family->binary && j < m->n; j++)
        if (design->columns[j].type == CR_CATEGORY && design->columns[j].n_levels != 2)
            return cr_fail(cx, CR_EUNSUPPORTED,
                           "%s cannot draw column '%s': it does not distinguish its %zu levels",
                           m->family->model, design->columns[j].name, design->columns[j].n_levels);
    return cri_parallel_for(cx, "drawing", cri_block_count(count, BLOCK), draw_block, &a);
}

/* --- description ----------------------------------------------------------------------------- */

/* "x.rate", or "smoker=yes" of a binary column. */
static char *parameter_name(cr_ctx *cx, const cri_conjugate *m, const cri_design_column *c,
                            size_t j, const char *name)
{
    if (!m->family->binary) return cri_string_format(cx, "%s.%s", c->name, name);
    if (c->type == CR_CATEGORY)
        return cri_string_format(cx, "%s=%s", c->name, c->levels[(size_t)m->success[j]]);
    if (c->type == CR_BOOLEAN)
        return cri_string_format(cx, "%s=%s", c->name, m->success[j] == 1 ? "true" : "false");
    if (!isnan(m->above[j])) return cri_string_format(cx, "%s>%g", c->name, m->above[j]);
    return cri_string_format(cx, "%s=%g", c->name, m->success[j]);
}

/* Each parameter alone; returns how many there are. */
static size_t marginals_of(const cri_conjugate_family *f, const double *params,
                           const char *names[CRI_MOST_MARGINALS], cri_named out[CRI_MOST_MARGINALS])
{
    if (f->marginals) return f->marginals(params, names, out);
    names[0] = f->parameter;
    out[0] = f->joint(params);
    return 1;
}

static cr_status describe_parameters(cr_ctx *cx, const cri_conjugate *m, const cri_design_column *c,
                                     size_t j, cri_sheet *list)
{
    cr_status                   st = CR_OK;
    const cri_conjugate_family *f = m->family;
    const double *params = m->params + j * m->n_params, *work = m->work + j * m->n_work;
    const char   *names[CRI_MOST_MARGINALS];
    cri_named     d[CRI_MOST_MARGINALS];
    size_t        n = marginals_of(f, params, names, d);
    char         *name = NULL;
    for (size_t k = 0; k < n; k++) {
        cri_summary s;
        CR_TRY(f->summarise ? f->summarise(cx, params, work, k, m->level, &s)
                            : cri_summarise(cx, &d[k], m->level, &s));
        name = parameter_name(cx, m, c, j, names[k]);
        if (!name) CR_TRY(CR_ENOMEM);
        cri_add_summary(list, &d[k], &s, "%s", name);
        cri_string_free(cx, name);
        name = NULL;
    }
done:
    cri_string_free(cx, name);
    return st;
}

static void put_statistics(const cri_conjugate *m, size_t j, cri_sheet *s)
{
    for (size_t k = 0; k < m->n_stats; k++)
        cri_put_real(s, m->family->statistics[k], m->stats[j * m->n_stats + k]);
}

cr_status cri_conjugate_describe(cr_ctx *cx, const void *state, const cr_design *design,
                                 cri_sheet *out)
{
    cr_status                   st = CR_OK;
    const cri_conjugate        *m = state;
    const cri_conjugate_family *f = m->family;
    cri_named                   prior = f->joint(m->prior);
    cri_sheet                  *parameters, *distributions, *row;
    char                        text[256];

    cri_add_prior(out, cri_named_text(&prior, text, sizeof text), f->proper(m->prior), f->evidence,
                  m->level);
    parameters = cri_put_list(out, "parameters");
    distributions = cri_put_list(out, "distributions");
    for (size_t j = 0; j < m->n; j++) {
        const double *params = m->params + j * m->n_params;
        cri_named     joint = f->joint(params), predictive = f->predictive(params);
        CR_TRY(describe_parameters(cx, m, &design->columns[j], j, parameters));
        row = cri_add_distribution(distributions, design->columns[j].name, m->stats[j * m->n_stats],
                                   m->log_evidence[j]);
        cri_put_named(row, "posterior", &joint);
        cri_put_named(row, "predictive", &predictive);
        put_statistics(m, j, cri_put_object(row, "statistics"));
    }
done:
    return st;
}

/* draws.c -- rows drawn from a model, and targets from its predictive distributions. */
#include "model_internal.h"
#include "base/rng.h"
#include "prob/dist/dist.h"

#include <math.h>

cr_status cr_sample(cr_ctx *cx, const cr_model *m, size_t count, uint64_t seed, double *out)
{
    if (!cri_answers_of(m->class)->sample ||
        m->task & (CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION))
        return cr_fail(cx, CR_EUNSUPPORTED, "the model %s does not draw rows", m->class->name);
    return cri_answers_of(m->class)->sample(cx, m->state, m->design, NULL, count, seed, out);
}

/* The class at which the cumulative probability passes u. */
static double draw_class(const double *prob, size_t K, double u)
{
    size_t k = 0;
    for (double sum = prob[0]; k + 1 < K && u >= sum; sum += prob[++k]) {}
    return (double)k;
}

/* By the logarithm of the gamma variate, which does not vanish for few degrees of freedom. */
static double student_t(cr_rng *rng, double dof)
{
    double z = cr_rng_normal(rng), half = dof / 2;
    return z * exp(0.5 * (log(half) - cr_rng_log_gamma(rng, half)));
}

/* Every row draws from a stream of its own, so that the rows before it change nothing. */
static cr_status draw_row(cr_ctx *cx, const cr_prediction *p, size_t i, size_t count, uint64_t seed,
                          double *out)
{
    cr_rng rng = cr_rng_stream(seed, i);
    bool   known = p->kind == CR_ANSWER_CLASS ? !isnan(p->prob[i * p->n_classes])
                                              : !isnan(p->mean[i]) && !isnan(p->scale[i]);
    if (known && p->family)
        return cr_dist_sample(cx, p->family, p->params + i * p->n_params, p->n_params, &rng, count,
                              out);
    for (size_t c = 0; c < count; c++) {
        if (!known)
            out[c] = NAN;
        else if (p->kind == CR_ANSWER_CLASS)
            out[c] = draw_class(p->prob + i * p->n_classes, p->n_classes, cr_rng_uniform(&rng));
        else
            out[c] = p->mean[i] + p->scale[i] * (isinf(p->dof[i]) ? cr_rng_normal(&rng)
                                                                  : student_t(&rng, p->dof[i]));
    }
    return CR_OK;
}

static cr_status draw_each_row(cr_ctx *cx, const cr_model *m, const cr_table *t, size_t count,
                               uint64_t seed, double *out)
{
    cr_status     st = CR_OK;
    cr_prediction p = { 0 };
    CR_TRY(cr_predict(cx, m, t, &p));
    if (p.ranks) CR_TRY(cri_fail_ranks(cx, m->class->name));
    for (size_t i = 0; i < p.n; i++) CR_TRY(draw_row(cx, &p, i, count, seed, out + i * count));
done:
    cr_prediction_free(cx, &p);
    return st;
}

/* Draws of the class itself, moved from the kept rows to their places in the table. */
static cr_status draw_jointly(cr_ctx *cx, const cr_model *m, const cr_table *t, size_t count,
                              uint64_t seed, double *out)
{
    cr_status        st = CR_OK;
    cri_rows         rows = { 0 };
    const cr_design *d = m->design;
    CR_TRY(cri_rows_open(cx, d, t, CRI_TARGET_NONE, &rows));
    CR_TRY(cri_answers_of(m->class)->sample(cx, m->state, d, &rows, count, seed, out));
    for (size_t i = 0; i < rows.n * count; i++)
        out[i] = cri_transform_back(d->transform, out[i] * d->target_scale + d->target_shift);
    cri_rows_spread(&rows, count, out);
done:
    cri_rows_close(cx, &rows);
    return st;
}

cr_status cr_sample_targets(cr_ctx *cx, const cr_model *m, const cr_table *t, size_t count,
                            uint64_t seed, double *out)
{
    if (!(m->task & (CR_TASK_REGRESSION | CR_TASK_CLASSIFICATION)))
        return cr_fail(cx, CR_EUNSUPPORTED, "the model %s has no target to draw", m->class->name);
    return cri_answers_of(m->class)->sample && !m->calibration
               ? draw_jointly(cx, m, t, count, seed, out)
               : draw_each_row(cx, m, t, count, seed, out);
}

/* conformal.c -- scores of held-out rows and the intervals that follow from them. */
#include "conformal.h"
#include "model_internal.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "base/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

CRI_RECORD_TABLE(static, conformal_record, cr_conformal, CRI_CONFORMAL);

/* --- scores ----------------------------------------------------------------------------------- */

typedef struct scored {
    double score, weight;
} scored;

CRI_COMPARE_BY(by_score, scored, score);

/* The rows of one fold by rising score, with running sums of weights. */
static void place_fold(scored *rows, size_t n, double *score, double *weight)
{
    double sum = 0;
    if (n > 0) qsort(rows, n, sizeof *rows, by_score);
    for (size_t i = 0; i < n; i++) score[i] = rows[i].score, weight[i] = sum += rows[i].weight;
}

cr_status cri_conformal_new(cr_ctx *cx, const double *score, const double *weight,
                            const size_t *count, size_t folds, bool scaled, cr_conformal **out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    cr_conformal *c = cr_alloc(cx, 1, sizeof *c);
    size_t        n = 0, first = 0;
    for (size_t k = 0; k < folds; k++) n += count[k];
    scored *rows = cr_scratch_bytes(&s, n, sizeof *rows);

    CR_TRY(s.status);
    if (!c) CR_TRY(CR_ENOMEM);
    *c = (cr_conformal){ .folds = folds, .rows = n, .scaled = scaled };
    CR_TRY(cri_record_allocate(cx, conformal_record, c));
    c->models = cr_alloc(cx, folds, sizeof *c->models);
    if (!c->models) CR_TRY(CR_ENOMEM);
    for (size_t i = 0; i < n; i++) rows[i] = (scored){ score[i], weight[i] };
    for (size_t k = 0; k < folds; first += count[k++]) {
        c->conformal_first[k] = first;
        place_fold(rows + first, count[k], c->conformal_score + first, c->conformal_weight + first);
        if (count[k] > 0) c->weight += c->conformal_weight[first + count[k] - 1];
    }
    *out = c;
    c = NULL;
done:
    cri_conformal_free(cx, c);
    cr_scratch_end(&s);
    return st;
}

void cri_conformal_free(cr_ctx *cx, cr_conformal *c)
{
    if (!c) return;
    for (size_t k = 0; c->models && k < c->folds; k++) cr_model_free(cx, c->models[k]);
    cr_free(cx, c->models, c->folds, sizeof *c->models);
    cri_record_free(cx, conformal_record, c);
    cr_free(cx, c, 1, sizeof *c);
}

/* --- intervals -------------------------------------------------------------------------------- */

/* Of n rows of weight 1 the ceil(level (n + 1))-th is wanted: rounding must not ask for one more. */
static double needed(double level, double weight) { return level * (weight + 1) * (1 - 1e-12); }

double cri_conformal_least(double level) { return level / (1 - level); }

/* mean + scale score of the rows of each fold. */
typedef struct values {
    const cr_conformal *c;
    const double       *mean, *scale;
    double              sign; /* of the mean: -1 for the lower end */
} values;

static double value_at(const values *v, size_t k, size_t i)
{
    return v->sign * v->mean[k] + (v->scale ? v->scale[k] : 1) * v->c->conformal_score[i];
}

static size_t fold_end(const cr_conformal *c, size_t k)
{
    return k + 1 < c->folds ? c->conformal_first[k + 1] : c->rows;
}

/* The first row of fold k, from low to high, whose value is above x, or with `equal` not below it. */
static size_t find_row(const values *v, size_t k, size_t low, size_t high, double x, bool equal)
{
    while (low < high) {
        size_t i = low + (high - low) / 2;
        double value = value_at(v, k, i);
        if (value < x || (value == x && !equal))
            low = i + 1;
        else
            high = i;
    }
    return low;
}

/* The weight of all rows whose value is not above x. */
static double weight_up_to(const values *v, double x)
{
    const cr_conformal *c = v->c;
    double              sum = 0;
    for (size_t k = 0; k < c->folds; k++) {
        size_t first = c->conformal_first[k];
        size_t end = find_row(v, k, first, fold_end(c, k), x, false);
        if (end > first) sum += c->conformal_weight[end - 1];
    }
    return sum;
}

/* The least value up to which rows weigh at least `need`, by a search that drops the values on the wrong side of
 * one of those left: about log n steps of folds log n each.  low and high [folds] are workspace. */
static double upper_end(const values *v, double need, size_t *low, size_t *high)
{
    const cr_conformal *c = v->c;
    double              best = INFINITY;
    uint64_t            state = 1;
    size_t              left = c->rows;
    for (size_t k = 0; k < c->folds; k++) low[k] = c->conformal_first[k], high[k] = fold_end(c, k);
    while (left > 0) {
        state = state * 6364136223846793005u + 1442695040888963407u; /* any of those left */
        size_t at = (size_t)(state >> 33) % left, k = 0;
        while (at >= high[k] - low[k]) at -= high[k] - low[k], k++;
        double x = value_at(v, k, low[k] + at);
        bool   enough = weight_up_to(v, x) >= need;
        if (enough) best = x;
        left = 0;
        for (k = 0; k < c->folds; k++) {
            size_t cut = find_row(v, k, low[k], high[k], x, enough);
            *(enough ? &high[k] : &low[k]) = cut;
            left += high[k] - low[k];
        }
    }
    return best;
}

static bool is_known(const cr_conformal *c, const double *mean, const double *opt_scale)
{
    for (size_t k = 0; k < c->folds; k++)
        if (isnan(mean[k]) || (opt_scale && isnan(opt_scale[k]))) return false;
    return true;
}

void cri_conformal_interval(const cr_conformal *c, const double *mean, const double *opt_scale,
                            double level, size_t *work, double *opt_lower, double *opt_upper)
{
    values v = { c, mean, opt_scale, 1 };
    double need = needed(level, c->weight);
    bool   known = is_known(c, mean, opt_scale);
    if (opt_upper) *opt_upper = known ? upper_end(&v, need, work, work + c->folds) : NAN;
    v.sign = -1;
    if (opt_lower) *opt_lower = known ? -upper_end(&v, need, work, work + c->folds) : NAN;
}

cr_status cri_conformal_intervals(cr_ctx *cx, const cr_prediction *p, size_t begin, size_t end,
                                  double level, double *opt_lower, double *opt_upper)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    const cr_conformal *c = p->conformal;
    size_t             *work = cr_scratch_index(&s, 2 * c->folds);

    CR_TRY(s.status);
    if (needed(level, c->weight) > c->weight)
        cr_log(cx, CR_LOG_WARNING,
               "intervals of level %g are infinite: they need %.0f held-out rows, but the "
               "conformal calibration has %.6g",
               level, ceil(cri_conformal_least(level) * (1 - 1e-12)), c->weight);
    for (size_t i = begin; i < end; i++) {
        size_t row = i * c->folds;
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(cx));
        cri_conformal_interval(c, p->fold_mean + row, c->scaled ? p->fold_scale + row : NULL, level,
                               work, opt_lower ? opt_lower + (i - begin) : NULL,
                               opt_upper ? opt_upper + (i - begin) : NULL);
        if (opt_lower)
            opt_lower[i - begin] = cri_transform_back(c->transform, opt_lower[i - begin]);
        if (opt_upper)
            opt_upper[i - begin] = cri_transform_back(c->transform, opt_upper[i - begin]);
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- predictions ------------------------------------------------------------------------------ */

cr_status cri_conformal_predict(cr_ctx *cx, const cr_conformal *c, const cr_table *t,
                                cr_prediction *out)
{
    cr_status     st = CR_OK;
    cr_prediction p = { 0 };
    out->n_folds = c->folds;
    out->fold_mean = cr_alloc(cx, out->n * c->folds, sizeof(double));
    out->fold_scale = c->scaled ? cr_alloc(cx, out->n * c->folds, sizeof(double)) : NULL;
    if (!out->fold_mean || (c->scaled && !out->fold_scale)) return CR_ENOMEM;
    cri_mute_warnings(cx, true); /* what there is to be said of the rows has been said */
    for (size_t k = 0; k < c->folds; k++) {
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_predict_latent(cx, c->models[k], t, &p));
        for (size_t i = 0; i < out->n; i++) {
            out->fold_mean[i * c->folds + k] = p.mean[i];
            if (c->scaled) out->fold_scale[i * c->folds + k] = p.scale[i];
        }
        cr_prediction_free(cx, &p);
    }
    out->conformal = c;
done:
    cri_mute_warnings(cx, false);
    cr_prediction_free(cx, &p);
    return st;
}

/* --- describing ------------------------------------------------------------------------------- */

cr_status cri_conformal_describe(cr_ctx *cx, const cr_conformal *c, cri_sheet *out)
{
    static const double levels[] = { 0.5, 0.8, 0.9, 0.95, 0.99 };
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    double             *zero = cr_scratch_bytes(&s, c->folds, sizeof *zero);
    size_t             *work = cr_scratch_index(&s, 2 * c->folds);

    CR_TRY(s.status);
    cri_sheet *list = cri_put_list(out, "conformal");
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        double score;
        cri_conformal_interval(c, zero, NULL, levels[i], work, NULL, &score);
        cri_sheet *row = cri_put_object(list, NULL);
        cri_put_real(row, "level", levels[i]);
        cri_put_real(row, "score", score);
        cri_put_text(row, "unit", c->scaled ? "sd" : "target");
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- files ------------------------------------------------------------------------------------ */

enum { FOLD_NAME = 32 };

static const char *fold_name(size_t k, char out[FOLD_NAME])
{
    snprintf(out, FOLD_NAME, "fold%zu", k + 1);
    return out;
}

cr_status cri_conformal_write(cr_ctx *cx, const cr_conformal *c, cri_store *store, json_t *out)
{
    cr_status st = CR_OK;
    json_t   *list, *model;
    char      name[FOLD_NAME];
    CR_TRY(cri_record_write(cx, conformal_record, c, store, out));
    CR_TRY(cri_store_set(cx, out, "models", list = json_array()));
    for (size_t k = 0; k < c->folds; k++) {
        CR_TRY(cri_store_append(cx, list, model = json_object()));
        cri_store_within(store, fold_name(k, name));
        st = cri_model_write_parts(cx, c->models[k], store, model);
        cri_store_within(store, "");
        CR_TRY(st);
    }
done:
    return st;
}

/* What a sound file holds: folds and scores in their order. */
static bool is_sound(const cr_conformal *c)
{
    bool   sound = c->conformal_first[0] == 0;
    double sum = 0;
    for (size_t k = 0; sound && k < c->folds; k++) {
        size_t first = c->conformal_first[k], end = fold_end(c, k);
        sound = first <= end && end <= c->rows;
        for (size_t i = first + 1; sound && i < end; i++)
            sound = c->conformal_score[i] >= c->conformal_score[i - 1] &&
                    c->conformal_weight[i] >= c->conformal_weight[i - 1];
        if (sound && end > first) sum += c->conformal_weight[end - 1];
    }
    return sound && fabs(sum - c->weight) <= 1e-9 * c->weight;
}

static cr_status read_models(cr_ctx *cx, cri_store *store, const json_t *in, const cr_model *m,
                             cr_conformal *c)
{
    cr_status st = CR_OK;
    json_t   *list;
    char      name[FOLD_NAME];
    CR_TRY(cri_store_get_array(cx, store, in, "models", &list));
    if (json_array_size(list) != c->folds || !is_sound(c))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: the conformal scores in the model file are not valid",
                       cri_store_source(store)));
    for (size_t k = 0; k < c->folds; k++) {
        cri_store_within(store, fold_name(k, name));
        st = cri_model_read_parts(cx, store, json_array_get(list, k), m, &c->models[k]);
        cri_store_within(store, "");
        CR_TRY(st);
    }
done:
    return st;
}

cr_status cri_conformal_read(cr_ctx *cx, cri_store *store, const json_t *in, const cr_model *m,
                             cr_conformal **out)
{
    cr_status     st = CR_OK;
    cr_conformal *c = cr_alloc(cx, 1, sizeof *c);
    if (!c) return CR_ENOMEM;
    CR_TRY(cri_record_read(cx, conformal_record, store, in, c));
    c->models = cr_alloc(cx, c->folds, sizeof *c->models);
    if (!c->models) CR_TRY(CR_ENOMEM);
    c->transform = m->design->transform;
    CR_TRY(read_models(cx, store, in, m, c));
    *out = c;
    c = NULL;
done:
    cri_conformal_free(cx, c);
    return st;
}

/* overconfident.c -- probabilities of classes, and intervals of numbers, that cannot be relied on.
 * Where columns depend on each other within the classes, or are not normal, naive Bayes and Gaussian
 * discriminants count the same evidence several times.  That shows in the rows of the fit themselves:
 * the weighted mean of the largest probability is above the share a of hits by more than 0.05 and two
 * standard errors, sqrt(a (1 - a) / n).  Few rows say too little of that: there each is left out (left_out.c). */
#include "model_internal.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "data/table/subset.h"

#include <math.h>
#include <string.h>

enum { MOST_JUDGED = 2000 };

/* Probabilities other than the shares of the rows are wished for. */
static bool are_classes_reweighted(const cr_model *m)
{
    const cr_option *o = cr_option_find(m->class->options, "priors");
    const char      *priors = o ? *(char **)((char *)m->options + o->offset) : NULL;
    return m->fit.class_weights || (priors && *priors);
}

static bool is_too_sure(const cri_rows *rows, const double *prob, size_t K)
{
    double sure = 0, hits = 0, weight = 0, n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const double *p = prob + i * K, w = rows->w ? rows->w[i] : 1;
        size_t        best = 0;
        if (isnan(p[0])) continue;
        for (size_t k = 1; k < K; k++) best = p[k] > p[best] ? k : best;
        sure += w * p[best];
        hits += w * ((double)best == rows->y[i]);
        weight += w;
        n++;
    }
    double share = hits / weight, gap = sure / weight - share;
    return gap > 0.05 && gap > 2 * sqrt(share * (1 - share) / n);
}

static void warn_of_few_rows(cr_ctx *cx, const cr_model *m)
{
    const cr_option *o = cr_option_find(m->class->options, "predictive");
    bool             plugin = o && *(const int *)((const char *)m->options + o->offset) == 0;
    const char      *careful = plugin ? strrchr(o->range, '|') + 1 : "";
    const char      *larger = m->class->network ? ", --prior bdeu:10 helps" : "";
    cr_log(cx, CR_LOG_WARNING,
           "%s is overconfident with so few rows: its probabilities for rows left out are worse "
           "than the shares of the classes; --calibrate platt corrects them%s%s%s%s",
           m->class->name, plugin ? ", --predictive " : "", careful, plugin ? " helps" : "",
           larger);
}

cr_status cri_doubt_probabilities(cr_ctx *cx, const cr_model *m, const cr_table *t)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     all = cr_table_rows(t), n = all < MOST_JUDGED ? all : MOST_JUDGED;
    size_t     K = cr_design_classes(m->design), *which = cr_scratch_index(&s, n);
    double    *prob = cr_scratch_matrix(&s, n, K);
    cr_table  *some = NULL;
    cri_rows   rows = { 0 };
    bool       said, worse = false;

    if (cri_warnings_muted(cx)) goto done;
    said = m->class->doubt && m->class->doubt(cx, m->design, m->state);
    bool densities = m->class->joint || m->class->sums; /* of the columns in each class */
    if (!densities || are_classes_reweighted(m)) goto done;
    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) which[i] = i * all / n;
    CR_TRY(cri_table_subset(cx, t, which, n, &some));
    CR_TRY(cri_rows_open(cx, m->design, some, CRI_TARGET_OF_PART, &rows));
    cr_prediction p = { .n = rows.n, .n_classes = K, .prob = prob };
    if (rows.n > 0) CR_TRY(m->class->rows->predict(cx, m->state, &rows, &p));
    if (is_too_sure(&rows, prob, K)) {
        said = true;
        cr_log(cx, CR_LOG_WARNING,
               "%s is overconfident here: --calibrate platt matches its probabilities to how often "
               "they come true",
               m->class->name);
    }
    if (!said && n == all && (m->class->sums || m->class->joint))
        CR_TRY(cri_is_worse_than_shares(cx, m, &rows, &worse));
    if (worse) warn_of_few_rows(cx, m);
done:
    cri_rows_close(cx, &rows);
    cr_table_free(cx, some);
    cr_scratch_end(&s);
    return st;
}

/* --- intervals ------------------------------------------------------------------------------- */

/* A spread of no more than this, over the mean, is rounding. */
static const double NOTHING = 1e-13;

static bool is_target_constant(const cri_rows *rows)
{
    for (size_t i = 1; i < rows->n; i++)
        if (rows->y[i] != rows->y[0]) return false;
    return rows->n > 0;
}

cr_status cri_doubt_intervals(cr_ctx *cx, const cr_model *m, const cr_table *t,
                              const cri_rows *rows)
{
    cr_status     st = CR_OK;
    size_t        first = 0;
    cr_table     *one = NULL;
    cr_prediction p = { 0 };
    if (!rows->y || !is_target_constant(rows)) return CR_OK;
    CR_TRY(cri_table_subset(cx, t, &first, 1, &one));
    CR_TRY(cr_predict(cx, m, one, &p));
    if (p.scale && p.scale[0] <= NOTHING * fabs(p.mean[0]))
        cr_log(cx, CR_LOG_WARNING,
               "the target '%s' has the same value in every row: how much it varies cannot be "
               "learned, and standard errors and intervals of width 0 say nothing",
               m->design->target.name);
done:
    cr_prediction_free(cx, &p);
    cr_table_free(cx, one);
    return st;
}

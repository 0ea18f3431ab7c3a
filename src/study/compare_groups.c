/* compare_groups.c -- pooled against separate models of groups of rows. */
#include "compare_groups.h"
#include "described.h"
#include "base/context_internal.h"
#include "base/list.h"
#include "base/number.h"
#include "base/scratch.h"
#include "data/design/design_internal.h"
#include "data/table/subset.h"
#include "data/table/table_internal.h"
#include "math/quadrature.h"
#include "math/special/special.h"
#include "prob/dist/dist_class.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

CR_OPTIONS_TABLE(, cr_group_table, cr_group_options, CR_GROUP_OPTIONS);

enum { MOST_GROUPS = 1000 };

/* --- the groups ------------------------------------------------------------------------------ */

/* group[i] of every row, and their names; MOST_GROUPS for a row without one. */
typedef struct grouping {
    size_t *group; /* [rows] */
    size_t  n, unknown;
    double  values[MOST_GROUPS]; /* of each group: a code or a number, rising */
} grouping;

static double group_value(const cr_column *c, size_t row)
{
    if (c->type != CR_CATEGORY) return c->values[row * c->stride];
    return c->codes[row] == CR_MISSING_CODE ? NAN : (double)c->codes[row];
}

static size_t find_group(const grouping *g, double value)
{
    size_t low = 0, high = g->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (g->values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static cr_status find_groups(cr_ctx *cx, const cr_table *t, const cr_column *c, grouping *g)
{
    size_t rows = cr_table_rows(t);
    for (size_t i = 0; i < rows; i++) {
        double x = group_value(c, i);
        size_t k = find_group(g, x);
        if (isnan(x) || (k < g->n && g->values[k] == x)) continue;
        if (g->n == MOST_GROUPS)
            return cr_fail(cx, CR_EDATA, "%s: column '%s' has more than %d groups",
                           cr_table_source(t), c->name, MOST_GROUPS);
        memmove(g->values + k + 1, g->values + k, (g->n - k) * sizeof *g->values);
        g->values[k] = x;
        g->n++;
    }
    for (size_t i = 0; i < rows; i++) {
        double x = group_value(c, i);
        g->group[i] = isnan(x) ? MOST_GROUPS : find_group(g, x);
        if (isnan(x)) g->unknown++;
    }
    if (g->unknown)
        cr_log(cx, CR_LOG_WARNING, "%zu of %zu rows of %s have no '%s' and are left out",
               g->unknown, rows, cr_table_source(t), c->name);
    if (g->n >= 2) return CR_OK;
    return cr_fail(cx, CR_EDATA, "%s: column '%s' has %zu group%s, but a comparison needs two",
                   cr_table_source(t), c->name, g->n, g->n == 1 ? "" : "s");
}

static char *group_name(cr_ctx *cx, const cr_column *c, double value)
{
    char buffer[CRI_DOUBLE_SIZE];
    return cri_string_copy(cx, c->type == CR_CATEGORY ? c->levels[(size_t)value]
                                                      : cri_level_text(c, value, buffer));
}

/* --- the fits -------------------------------------------------------------------------------- */

typedef struct task {
    const char       *model;
    const cr_table   *table;
    const cr_setting *settings; /* with the column of the groups left out of the features */
    size_t            n_settings;
} task;

/* There is no evidence to go by: of a model with priors because the prior is improper. */
static cr_status fail_evidence(cr_ctx *cx, const cr_model *m)
{
    const cr_model_class *c = cr_model_get_class(m);
    cr_fail(cx, CR_EUNSUPPORTED,
            "the model %s has no log evidence here, which the comparison of groups needs",
            cr_class_name(c));
    if (cr_option_find(cr_class_options(c), "prior"))
        return cr_fail_hint(cx,
                            "an improper prior has no evidence: give a proper one with --prior, or "
                            "use another model; credence models %s lists the priors",
                            cr_class_name(c));
    return cr_fail_hint(cx, "%s has one",
                        cr_model_get_task(m) == CR_TASK_CLASSIFICATION ? "bayes-logistic"
                                                                       : "bayes-linear");
}

/* Fits the rows of one group, or all that have one for k = MOST_GROUPS. */
static cr_status fit_group(cr_ctx *cx, const task *job, const grouping *g, size_t k,
                           const char *name, cr_model **out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     rows = cr_table_rows(job->table), n = 0, *index = cr_scratch_index(&s, rows);
    cr_table  *part = NULL;
    cr_model  *m = NULL;

    CR_TRY(s.status);
    for (size_t i = 0; i < rows; i++)
        if (k == MOST_GROUPS ? g->group[i] != MOST_GROUPS : g->group[i] == k) index[n++] = i;
    CR_TRY(cri_table_subset(cx, job->table, index, n, &part));
    st = cr_fit(cx, job->model, part, job->settings, job->n_settings, &m);
    if (st != CR_OK && st != CR_ENOMEM && k != MOST_GROUPS)
        cr_fail_note(cx, "in the group '%s'", name);
    CR_TRY(st);
    if (isnan(cr_model_get_report(m)->log_evidence)) {
        CR_TRY(fail_evidence(cx, m));
    }
    *out = m;
    m = NULL;
done:
    cr_model_free(cx, m);
    cr_table_free(cx, part);
    cr_scratch_end(&s);
    return st;
}

/* Evidences are of one model only where the parameters are the same: a number that is taken for a
 * level may not occur in every group. */
static cr_status check_parameters(cr_ctx *cx, const cr_group_comparison *c)
{
    cr_status        st = CR_OK;
    cri_sheet       *all = NULL, *some = NULL;
    const cri_sheet *list, *part, *a, *b;
    CR_TRY(cri_parameters_of(cx, c->pooled, &all, &list));
    for (size_t k = 0; k < c->n; k++) {
        CR_TRY(cri_parameters_of(cx, c->groups[k].model, &some, &part));
        a = cri_sheet_first(list);
        b = cri_sheet_first(part);
        while (a && b && strcmp(cri_parameter_name(a), cri_parameter_name(b)) == 0) {
            a = cri_sheet_next(a);
            b = cri_sheet_next(b);
        }
        if (a || b) {
            cr_fail(cx, CR_EDATA,
                    "the group '%s' does not have the same parameters as all rows "
                    "together: '%s'",
                    c->groups[k].name, cri_parameter_name(a ? a : b));
            CR_TRY(cr_fail_hint(
                cx, "--category COLUMN treats numbers as levels, the same in every group"));
        }
        cri_sheet_free(some);
        some = NULL;
    }
done:
    cri_sheet_free(all);
    cri_sheet_free(some);
    return st;
}

static void weigh(const cr_group_options *o, cr_group_comparison *c)
{
    const cr_report *r = cr_model_get_report(c->pooled);
    c->pooled_log_evidence = r->log_evidence;
    c->evidence = r->evidence;
    for (size_t k = 0; k < c->n; k++) {
        r = cr_model_get_report(c->groups[k].model);
        c->separate_log_evidence += r->log_evidence;
        if (r->evidence > c->evidence) c->evidence = r->evidence;
    }
    c->log_bayes_factor = c->separate_log_evidence - c->pooled_log_evidence;
    c->probability = cr_sigmoid(c->log_bayes_factor + log(o->prior_odds));
}

/* The settings, and one more: the features without the column of the groups. */
static cr_status leave_out(cr_scratch *s, const char *by, const cr_setting *settings, size_t n,
                           cr_setting **out)
{
    size_t      length = 2 * strlen(by) + 8;
    char       *without = cr_scratch_bytes(s, length, 1);
    cr_setting *all = cr_scratch_bytes(s, n + 1, sizeof *all);
    if (s->status != CR_OK) return s->status;
    without[0] = '!';
    cri_list_quote(by, without + 1, length - 1);
    if (n > 0) memcpy(all, settings, n * sizeof *all);
    all[n] = (cr_setting){ "features", without };
    *out = all;
    return CR_OK;
}

cr_status cr_compare_groups(cr_ctx *cx, const char *model, const cr_table *t,
                            const cr_setting *settings, size_t n_settings,
                            const cr_group_options *o, cr_group_comparison *out)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(cx);
    grouping           *g = cr_scratch_bytes(&s, 1, sizeof *g);
    cr_group_comparison c = { 0 };
    cr_setting         *all = NULL;

    CR_TRY(s.status);
    CR_TRY(cr_check_settings(cx, model, settings, n_settings));
    if (!o->by) CR_TRY(cr_fail(cx, CR_EARG, "groups are defined by a column: name it with --by"));
    const cr_column *by = cr_table_find(t, o->by);
    if (!by) CR_TRY(cri_table_no_column(cx, t, o->by));
    g->group = cr_scratch_index(&s, cr_table_rows(t));
    CR_TRY(s.status);
    CR_TRY(find_groups(cx, t, by, g));
    CR_TRY(leave_out(&s, o->by, settings, n_settings, &all));
    c.groups = cr_alloc(cx, g->n, sizeof *c.groups);
    if (!c.groups) CR_TRY(CR_ENOMEM);
    c.n = g->n;
    task job = { model, t, all, n_settings + 1 };
    CR_TRY(fit_group(cx, &job, g, MOST_GROUPS, "", &c.pooled));
    for (size_t k = 0; k < c.n; k++) {
        cr_progress(cx, "comparing groups", (double)k, (double)c.n);
        c.groups[k].name = group_name(cx, by, g->values[k]);
        if (!c.groups[k].name) CR_TRY(CR_ENOMEM);
        CR_TRY(fit_group(cx, &job, g, k, c.groups[k].name, &c.groups[k].model));
    }
    CR_TRY(check_parameters(cx, &c));
    weigh(o, &c);
    *out = c;
    c = (cr_group_comparison){ 0 };
done:
    cr_group_comparison_free(cx, &c);
    cr_scratch_end(&s);
    return st;
}

void cr_group_comparison_free(cr_ctx *cx, cr_group_comparison *c)
{
    for (size_t k = 0; k < c->n; k++) {
        cri_string_free(cx, c->groups[k].name);
        cr_model_free(cx, c->groups[k].model);
    }
    cr_free(cx, c->groups, c->n, sizeof *c->groups);
    cr_model_free(cx, c->pooled);
    *c = (cr_group_comparison){ 0 };
}

/* --- which of two is greater ----------------------------------------------------------------- */

typedef struct pair {
    const cr_dist_class *a, *b;
    cri_par              pa, pb;
} pair;

/* P(B < a) where a is the u-quantile of A. */
static double below_quantile(double u, void *user)
{
    const pair *p = user;
    double      x = cri_dist_quantile(p->a, p->pa, u);
    return cri_dist_cdf(p->b, p->pb, x, CRI_LOWER);
}

cr_status cr_probability_greater(cr_ctx *cx, const cr_dist_class *a, const double *a_params,
                                 size_t n_a, const cr_dist_class *b, const double *b_params,
                                 size_t n_b, double *out)
{
    cr_status st = CR_OK;
    pair      p = { a, b, { a_params, n_a }, { b_params, n_b } };
    if (cr_dist_is_vector(a) || cr_dist_is_vector(b) || a->discrete || b->discrete || !a->cdf ||
        !b->cdf)
        return cr_fail(cx, CR_EUNSUPPORTED,
                       "P(A > B) needs continuous distributions of one variable");
    CR_TRY(cr_dist_check(cx, a, a_params, n_a));
    CR_TRY(cr_dist_check(cx, b, b_params, n_b));
    CR_TRY(cr_integrate(cx, below_quantile, &p, 0, 1, 1e-13, 1e-10, out, NULL));
done:
    return st;
}

/* varying.c -- predictions and description of groups with varying intercepts. */
#include "varying.h"
#include "base/scratch.h"
#include "math/special/special.h"

#include <math.h>

CRI_RECORD_TABLE(, cri_varying_record, cri_varying, CRI_VARYING);

cr_status cri_varying_new(cr_ctx *cx, size_t groups, size_t width, cri_varying *out)
{
    cri_varying v = { .groups = groups, .width = width, .unseen_dof = INFINITY };
    v.lower = v.upper = NAN;
    cr_status st = cri_record_allocate(cx, cri_varying_record, &v);
    if (st == CR_OK)
        *out = v;
    else
        cri_record_free(cx, cri_varying_record, &v);
    return st;
}

/* --- predict --------------------------------------------------------------------------------- */

/* c_g0 + c_g . u of a row x [p]. */
static double covariance_at(const cri_varying *v, const cri_predictor *fit, size_t g,
                            const double *x)
{
    const double *c = v->covariance + g * v->width;
    double        sum = c[0];
    for (size_t j = 0; j < fit->p; j++) sum += c[1 + j] * (x[j] - fit->centre[j]) / fit->scale[j];
    return sum;
}

static void set_leverage(const cri_predictor *fit, double h, double dof, size_t i,
                         cr_prediction *out)
{
    if (h < 0) h = 0;
    out->leverage[i] = h;
    out->scale[i] = fit->sigma * sqrt(1 + h);
    out->dof[i] = dof;
}

cr_status cri_varying_predict(cr_ctx *cx, const cri_varying *v, const cri_predictor *fit,
                              const cri_rows *rows, cr_prediction *out)
{
    enum { BLOCK = 128 };
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = fit->p, unseen = 0;
    double    *X = cr_scratch_f64(&s, BLOCK * p);
    size_t    *group = cr_scratch_index(&s, rows->n);

    CR_TRY(s.status);
    cri_rows_groups(rows, group);
    for (size_t from = 0; from < rows->n; from += BLOCK) {
        size_t to = rows->n - from > BLOCK ? from + BLOCK : rows->n;
        CR_TRY(cr_check_interrupt(cx));
        if (out->scale) cri_rows_fill(rows, from, to, X, p);
        for (size_t i = from; i < to; i++) {
            size_t g = group[i];
            bool   known = g < v->groups && v->weight[g] > 0; /* a level may have no rows */
            unseen += !known;
            if (known) out->mean[i] += v->mean[g];
            if (!out->scale) continue;
            double h = out->leverage[i];
            h += known ? v->variance[g] + 2 * covariance_at(v, fit, g, X + (i - from) * p)
                       : v->unseen;
            set_leverage(fit, h, known ? fit->dof : v->unseen_dof, i, out);
        }
    }
    const char *name = rows->design->columns[cri_design_varying(rows->design)].name;
    if (unseen > 0)
        cr_log(cx, CR_LOG_WARNING,
               "%zu row%s a '%s' that the model has not seen: the intercept of an average "
               "group is used, with the standard deviation of the groups",
               unseen, unseen == 1 ? " has" : "s have", name);
done:
    cr_scratch_end(&s);
    return st;
}

/* --- describe -------------------------------------------------------------------------------- */

static const cr_field group_fields[] = {
    CR_TEXT("group", 0, "level of the column"),
    CR_NUMBER("weight", 0, "its rows, or the sum of their weights"),
    CR_NUMBER("intercept", 0,
              "difference of its intercept from that of an average group, shrunk towards 0"),
    CR_NUMBER("sd", CR_FIELD_NULL, "standard deviation of that"),
    CR_NUMBER("lower", CR_FIELD_NULL, "95 % interval"),
    CR_NUMBER("upper", CR_FIELD_NULL, "likewise"),
    CR_FIELD_LAST,
};

const cr_field cri_varying_tables[] = {
    CR_INNER(ROWS, "groups", CR_FIELD_SOMETIMES, "groups of a varying intercept", group_fields),
    CR_FIELD_LAST,
};

void cri_varying_describe(const cri_varying *v, const cri_predictor *fit, const cr_design *design,
                          cri_sheet *statistics, cri_sheet *out)
{
    const cri_design_column *c = &design->columns[cri_design_varying(design)];
    double                   unit = design->target_scale, dof = fit->dof;
    double                   spread = isinf(dof) ? 1 : dof > 2 ? sqrt(dof / (dof - 2)) : INFINITY;
    double                   reach = cr_student_t_ppf(0.975, dof);
    cri_put_count(statistics, "groups", v->groups);
    cri_put_real(statistics, "group_sd", v->sd * unit);
    cri_put_real(statistics, "group_sd_lower", v->lower * unit);
    cri_put_real(statistics, "group_sd_upper", v->upper * unit);
    cri_sheet *list = cri_put_list(out, "groups");
    for (size_t g = 0; g < v->groups; g++) {
        cri_sheet *row = cri_put_object(list, NULL);
        double     mean = v->mean[g] * unit, scale = fit->sigma * sqrt(v->variance[g]) * unit;
        cri_put_text(row, "group", c->levels[g]);
        cri_put_real(row, "weight", v->weight[g]);
        cri_put_real(row, "intercept", mean);
        cri_put_real(row, "sd", scale * spread);
        cri_put_real(row, "lower", mean - reach * scale);
        cri_put_real(row, "upper", mean + reach * scale);
    }
}

bool cri_varying_fits(const cri_varying *v, const cr_design *design)
{
    size_t column = cri_design_varying(design);
    if (column == SIZE_MAX) return v->groups == 0;
    return v->groups == design->columns[column].n_levels && v->weight &&
           v->width == 1 + cr_design_terms(design);
}

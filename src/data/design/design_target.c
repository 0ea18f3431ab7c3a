/* design_target.c -- the target as a model sees it: a function of it, standardised, or the index of its class. */
#include "design_block.h"
#include "base/number.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <string.h>

/* --- --transform-target ----------------------------------------------------------------------- */

static const double MOST_LAMBDA = 5;

static cr_status refuse_text(cr_ctx *cx, const char *text)
{
    cr_fail(cx, CR_EARG, "--transform-target %s: this function is not known", text);
    return cr_fail_hint(cx, "log, sqrt, logit, boxcox, boxcox:LAMBDA or none");
}

cr_status cri_transform_parse(cr_ctx *cx, const char *opt_text, cri_transform *out, bool *out_open)
{
    const char   *text = opt_text ? opt_text : "none", *number;
    size_t        length = strcspn(text, ":");
    cri_transform t = { CRI_TRANSFORM_NONE, 0 };
    while (t.kind < CRI_TRANSFORM_KINDS && (strlen(cri_transform_name(t.kind)) != length ||
                                            strncmp(cri_transform_name(t.kind), text, length) != 0))
        t.kind++;
    if (t.kind == CRI_TRANSFORM_KINDS) return refuse_text(cx, text);
    *out_open = t.kind == CRI_TRANSFORM_BOXCOX && !text[length];
    if (text[length]) {
        number = text + length + 1;
        size_t taken = cri_parse_double(number, number + strlen(number), &t.lambda);
        if (t.kind != CRI_TRANSFORM_BOXCOX || taken == 0 || number[taken])
            return refuse_text(cx, text);
        if (!(fabs(t.lambda) <= MOST_LAMBDA))
            return cr_fail(cx, CR_EARG, "--transform-target %s: lambda must lie between -%g and %g",
                           text, MOST_LAMBDA, MOST_LAMBDA);
    }
    *out = t;
    return CR_OK;
}

/* --- reading ---------------------------------------------------------------------------------- */

static cr_status refuse_value(cr_ctx *cx, const cri_rows *r, size_t row, double y)
{
    char        where[512];
    const char *name = cri_transform_name(r->design->transform.kind);
    bool        logit = r->design->transform.kind == CRI_TRANSFORM_LOGIT;
    cr_fail(cx, CR_EDATA, "%s: the target '%s' is %g, but --transform-target %s needs numbers %s",
            cri_table_where(r->table, row, where, sizeof where), r->design->target.name, y, name,
            logit ? "strictly between 0 and 1" : "above 0");
    if (logit) return cr_fail_hint(cx, "divide percentages by 100");
    return y == 0 ? cr_fail_hint(cx, "for counts with zeros, use glm --family poisson")
                  : cr_fail_hint(cx, "leave out --transform-target, or remove such rows");
}

cr_status cri_rows_read_target(cr_ctx *cx, cri_rows *r, const cr_column *c, cri_level_map map)
{
    const cr_design *d = r->design;
    bool             plain = d->transform.kind == CRI_TRANSFORM_NONE;
    r->y = cr_resize(cx, NULL, 0, cr_table_rows(r->table), sizeof *r->y);
    if (!r->y) return CR_ENOMEM;
    for (size_t i = 0; i < r->n; i++) {
        size_t row = r->index ? r->index[i] : i;
        if (d->target.type == CR_CATEGORY) {
            r->y[i] = cri_level_in(map, c, row);
            continue;
        }
        double y = c->values[row * c->stride];
        if (isnan(y)) { /* of a series */
            r->y[i] = NAN;
            continue;
        }
        if (!plain && !cri_transform_takes(d->transform, y)) return refuse_value(cx, r, row, y);
        if (!plain) y = cri_transform_forward(d->transform, y);
        r->y[i] = (y - d->target_shift) / d->target_scale;
    }
    return CR_OK;
}

void cri_rows_targets(const cri_rows *r, double *out)
{
    const cr_design *d = r->design;
    const cr_column *c = cr_table_find(r->table, d->target.name);
    bool             mapped = d->transform.kind != CRI_TRANSFORM_NONE; /* no way back is exact */
    for (size_t i = 0; i < r->n; i++)
        out[i] = mapped ? c->values[(r->index ? r->index[i] : i) * c->stride]
                        : r->y[i] * d->target_scale + d->target_shift;
}

double cri_rows_log_slopes(const cri_rows *r, bool weighted)
{
    cri_transform t = r->design->transform;
    double        sum = 0;
    if (t.kind == CRI_TRANSFORM_NONE) return 0;
    const cr_column *c = cr_table_find(r->table, r->design->target.name);
    for (size_t i = 0; i < r->n; i++) {
        double y = c->values[(r->index ? r->index[i] : i) * c->stride];
        if (!isnan(y)) sum += (weighted && r->w ? r->w[i] : 1) * cri_transform_log_slope(t, y);
    }
    return sum;
}

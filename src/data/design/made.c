/* made.c -- functions and crossed levels: what a made column is, apart from any rows. */
#include "made.h"
#include "data/table/date.h"
#include "base/context_internal.h"

#include <math.h>

void cri_made_free(cr_ctx *cx, cri_made *m)
{
    cr_free(cx, m->factors, m->n, sizeof *m->factors);
    *m = (cri_made){ 0 };
}

bool cri_function_of_dates(cri_function f) { return f >= CRI_FUNCTION_YEAR; }

cr_type cri_function_type(cri_function f, cr_type of)
{
    if (f == CRI_FUNCTION_SELF) return cri_is_date(of) ? CR_REAL : of;
    if (f == CRI_FUNCTION_MONTH || f == CRI_FUNCTION_WEEKDAY) return CR_CATEGORY;
    return CR_REAL;
}

double cri_function_value(cri_term_step step, double x)
{
    switch (step.function) {
    case CRI_FUNCTION_LOG:
        return x > 0 ? log(x) : NAN;
    case CRI_FUNCTION_LOG1P:
        return x > -1 ? log1p(x) : NAN;
    case CRI_FUNCTION_LOG2:
        return x > 0 ? log2(x) : NAN;
    case CRI_FUNCTION_LOG10:
        return x > 0 ? log10(x) : NAN;
    case CRI_FUNCTION_EXP:
        return exp(x);
    case CRI_FUNCTION_SQRT:
        return x >= 0 ? sqrt(x) : NAN;
    case CRI_FUNCTION_ABS:
        return fabs(x);
    case CRI_FUNCTION_INVERSE:
        return x != 0 ? 1 / x : NAN;
    case CRI_FUNCTION_POWER:
        return step.power == 2 ? x * x : pow(x, step.power);
    default:
        return x;
    }
}

double cri_calendar_value(cri_function f, const cri_design_column *c, double x)
{
    double days = c->type == CR_DATETIME ? floor(x * 86400 * 1e6 + 0.5) / 1e6 : x;
    if (isnan(x)) return x;
    cri_calendar at = cri_date_calendar(c->type, c->origin + days);
    switch (f) {
    case CRI_FUNCTION_YEAR:
        return at.year;
    case CRI_FUNCTION_MONTH:
        return at.month > 0 ? at.month - 1 : (double)NAN; /* beyond the calendar there is none */
    case CRI_FUNCTION_WEEKDAY:
        return at.weekday;
    case CRI_FUNCTION_DAYOFYEAR:
        return at.dayofyear;
    default:
        return at.hour;
    }
}

/* "Jan" or "Mon", ... */
static cr_status name_calendar(cr_ctx *cx, cri_design_column *c)
{
    bool   month = c->made.step.function == CRI_FUNCTION_MONTH;
    size_t n = month ? 12 : 7;
    c->levels = cr_alloc(cx, n, sizeof *c->levels);
    if (!c->levels) return CR_ENOMEM;
    c->n_levels = n;
    for (size_t k = 0; k < n; k++) {
        c->levels[k] = cri_string_copy_n(cx, month ? cri_month_name(k) : cri_weekday_name(k), 3);
        if (!c->levels[k]) return CR_ENOMEM;
    }
    return CR_OK;
}

/* --- crossed levels -------------------------------------------------------------------------- */

/* The level of category c in combination k of a crossed category. */
static size_t made_level_of(const cr_design *d, const cri_made *m, size_t c, size_t k)
{
    for (size_t i = m->n - 1; i > c; i--) k /= d->columns[m->factors[i].column].n_levels;
    return k % d->columns[m->factors[c].column].n_levels;
}

/* "b:red" */
static char *name_level(cr_ctx *cx, const cr_design *d, const cri_made *m, size_t k)
{
    char *name = NULL;
    for (size_t c = 0; c < m->n; c++) {
        const char *own = d->columns[m->factors[c].column].levels[made_level_of(d, m, c, k)];
        char *longer = name ? cri_string_format(cx, "%s:%s", name, own) : cri_string_copy(cx, own);
        cri_string_free(cx, name);
        if (!longer) return NULL;
        name = longer;
    }
    return name;
}

cr_status cri_made_set_levels(cr_ctx *cx, const cr_design *d, cri_design_column *c)
{
    size_t n = 1;
    if (c->made.kind == CRI_MADE_FUNCTION) return name_calendar(cx, c);
    for (size_t i = 0; i < c->made.n; i++) {
        size_t own = d->columns[c->made.factors[i].column].n_levels;
        if (own > 0 && n > CRI_MOST_CROSSED / own)
            return cr_fail(cx, CR_EDATA, "'%s' has more than %d combinations of levels", c->name,
                           CRI_MOST_CROSSED);
        n *= own;
    }
    c->levels = cr_alloc(cx, n, sizeof *c->levels);
    if (!c->levels) return CR_ENOMEM;
    c->n_levels = n;
    for (size_t k = 0; k < n; k++)
        if (!(c->levels[k] = name_level(cx, d, &c->made, k))) return CR_ENOMEM;
    return CR_OK;
}

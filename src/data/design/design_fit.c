/* design_fit.c -- coding categories, standardising: fitting a design. */
#include "design_fit.h"
#include "data/csv/number_style.h"
#include "data/table/date.h"
#include "data/table/oddities.h"
#include "data/table/table_internal.h"
#include "base/context_internal.h"
#include "base/number.h"
#include "base/scratch.h"
#include "base/utf8.h"
#include "base/find.h"

#include <math.h>
#include <string.h>

/* --- describing one column ------------------------------------------------------------------- */

double cri_row_weight(const cr_column *opt_w, size_t row)
{
    double w = opt_w ? opt_w->values[row * opt_w->stride] : 1;
    return w > 0 && isfinite(w) ? w : 0;
}

static double mean_of(const cr_column *c, size_t rows, const cr_column *opt_w)
{
    double mean = 0, sum = 0; /* a running mean, so that no sum of values overflows */
    for (size_t i = 0; i < rows; i++) {
        double x = c->values[i * c->stride], w = cri_row_weight(opt_w, i);
        if (isnan(x) || w == 0) continue;
        sum += w;
        mean += (x - mean) / (sum / w);
    }
    return mean;
}

static size_t most_frequent_level(const cr_column *c, size_t rows, const cr_column *opt_w,
                                  double *counts)
{
    memset(counts, 0, c->n_levels * sizeof *counts);
    for (size_t i = 0; i < rows; i++)
        if (c->codes[i] != CR_MISSING_CODE) counts[c->codes[i]] += cri_row_weight(opt_w, i);
    return cri_largest(counts, c->n_levels);
}

/* What is remembered goes into a model file and into JSON, which hold UTF-8 only. */
static cr_status check_texts(cr_ctx *cx, const cr_table *t, const cr_column *c)
{
    const char *bad = cri_utf8_valid(c->name) ? NULL : c->name;
    if (bad)
        cr_fail(cx, CR_EDATA, "%s: the column name '%s' is not UTF-8", cr_table_source(t), bad);
    for (size_t k = 0; !bad && k < c->n_levels; k++) {
        if (cri_utf8_valid(c->levels[k])) continue;
        bad = c->levels[k];
        cr_fail(cx, CR_EDATA, "%s: column '%s' has the level '%s', which is not UTF-8",
                cr_table_source(t), c->name, bad);
    }
    if (!bad) return CR_OK;
    return cr_fail_hint(cx, "convert the data first: iconv -f latin1 -t utf-8 OLD > NEW");
}

/* The value for gaps in a column of numbers.  An infinite one is refused with its place later. */
static cr_status find_fill(cr_ctx *cx, const cr_table *t, const cr_column *from,
                           const cr_column *opt_w, double *out_fill)
{
    double mean = mean_of(from, cr_table_rows(t), opt_w);
    if (!isfinite(mean) && !from->infinite)
        return cr_fail(cx, CR_ENUMERIC, "%s: the mean of column '%s' overflows", cr_table_source(t),
                       from->name);
    *out_fill = from->infinite ? 0 : mean;
    return CR_OK;
}

/* The first of a column of dates, of the rows that count. */
static double find_origin(const cr_column *c, size_t rows, const cr_column *opt_w)
{
    double first = INFINITY;
    for (size_t i = 0; i < rows; i++) {
        double x = c->values[i * c->stride];
        if (cri_row_weight(opt_w, i) > 0 && x < first) first = x;
    }
    return isfinite(first) ? first : 0;
}

static cr_status remember_dates(cr_ctx *cx, const cr_table *t, const cr_column *from,
                                const cr_column *opt_w, cri_design_column *c)
{
    const char *format = cri_table_date_format(t, from->name);
    c->origin = find_origin(from, cr_table_rows(t), opt_w);
    c->fill = (c->fill - c->origin) * cri_date_unit(from->type);
    if (format && !(c->format = cri_string_copy(cx, format))) return CR_ENOMEM;
    return CR_OK;
}

/* Copies what the design must remember of a table column. */
static cr_status remember_column(cr_ctx *cx, const cr_table *t, const cr_column *from,
                                 const cr_column *opt_w, cri_reference reference, bool impute,
                                 cri_design_column *c)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *counts = cr_scratch_f64(&s, from->n_levels);

    CR_TRY(s.status);
    CR_TRY(check_texts(cx, t, from));
    c->type = from->type;
    c->reference = CRI_NO_LEVEL;
    c->name = cri_string_copy(cx, from->name);
    if (!c->name) CR_TRY(CR_ENOMEM);
    if (from->type != CR_CATEGORY) {
        if (impute)
            CR_TRY(find_fill(cx, t, from, opt_w, &c->fill)); /* other tables may have gaps */
        if (cri_is_date(from->type)) CR_TRY(remember_dates(cx, t, from, opt_w, c));
        c->percent = cri_is_in_percent(from);
        goto done;
    }
    c->levels = cr_alloc(cx, from->n_levels, sizeof *c->levels);
    if (!c->levels) CR_TRY(CR_ENOMEM);
    c->n_levels = from->n_levels;
    for (size_t k = 0; k < from->n_levels; k++) {
        c->levels[k] = cri_string_copy(cx, from->levels[k]);
        if (!c->levels[k]) CR_TRY(CR_ENOMEM);
    }
    size_t frequent = from->n_levels && (impute || reference == CRI_REFERENCE_FREQUENT)
                          ? most_frequent_level(from, cr_table_rows(t), opt_w, counts)
                          : 0;
    c->fill = (double)frequent;
    if (reference == CRI_REFERENCE_FIRST) c->reference = 0;
    if (reference == CRI_REFERENCE_FREQUENT) c->reference = (int)frequent;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_design_remember(cr_ctx *cx, const cr_table *t, const cr_column *from,
                              const cri_design_plan *p, bool impute, cri_design_column *out)
{
    const char *weights = p->options->weights;
    cr_status   st = remember_column(cx, t, from, weights ? cr_table_find(t, weights) : NULL,
                                     p->reference, impute, out);
    int         own = p->reference == CRI_REFERENCE_NONE ? CRI_NO_LEVEL
                                                         : cri_references_level(&p->references, from);
    if (st == CR_OK && own != CRI_NO_LEVEL) out->reference = own;
    return st;
}

/* How a column of numbers is expanded: its powers, or the functions of a basis from the first on
 * that has a term. */
typedef struct expansion {
    unsigned  powers;
    size_t    first;
    cri_basis basis;
} expansion;

static size_t count_terms(const cr_column *c, cri_reference reference, cri_coding coding,
                          const expansion *e)
{
    if (c->type == CR_CATEGORY && coding == CRI_CODING_CODE) return 1;
    if (c->type == CR_CATEGORY)
        return c->n_levels - (reference != CRI_REFERENCE_NONE && c->n_levels > 0);
    return e->basis.kind != CRI_BASIS_NONE ? e->basis.n - e->first : e->powers;
}

char *cri_design_name_term(cr_ctx *cx, const cri_design_column *c, size_t k, bool code)
{
    char function[CRI_BASIS_NAME_SIZE];
    if (c->type == CR_CATEGORY && !code)
        return cri_string_format(cx, "%s=%s", c->name, c->levels[k]);
    if (c->basis.kind != CRI_BASIS_NONE)
        return cri_string_format(cx, "%s%s", c->name,
                                 cri_basis_function_name(&c->basis, k, function));
    if (k == 0) return cri_string_copy(cx, c->name);
    return cri_string_format(cx, "%s^%zu", c->name, k + 1);
}

/* Adds the terms of design column i from term j on; returns the next free term via out_j. */
static cr_status add_terms(cr_ctx *cx, cr_design *d, size_t i, cri_coding coding,
                           const expansion *e, size_t *j)
{
    const cri_design_column *c = &d->columns[i];
    bool   category = c->type == CR_CATEGORY, code = category && coding == CRI_CODING_CODE;
    bool   basis = c->basis.kind != CRI_BASIS_NONE;
    size_t n = code ? 1 : category ? c->n_levels : basis ? c->basis.n : e->powers;
    for (size_t k = basis ? e->first : 0; k < n; k++) {
        if (category && !code && (int)k == c->reference) continue;
        cri_design_term *term = &d->terms[(*j)++];
        *term = (cri_design_term){ .name = cri_design_name_term(cx, c, k, code),
                                   .column = i,
                                   .power = category || basis ? 0 : (unsigned)k + 1,
                                   .level = k,
                                   .code = code };
        if (!term->name) return CR_ENOMEM;
    }
    return CR_OK;
}

/* A text in almost every row is rarely meant as a category: one bad cell, or quotes, may have made it one. */
static void warn_of_many_levels(cr_ctx *cx, const cr_table *t, const cr_column *c)
{
    const cri_number_style comma = { ',', '.', CRI_SIGN_NONE };
    size_t                 rows = cr_table_rows(t), numbers = 0, with_comma = 0, other = 0;
    if (c->type != CR_CATEGORY || c->n_levels <= 20 || c->n_levels <= rows / 10) return;
    for (size_t k = 0; k < c->n_levels; k++) {
        double          x;
        unsigned        notes;
        cri_number_sign sign;
        const char     *end = c->levels[k] + strlen(c->levels[k]);
        with_comma += cri_read_styled(&comma, c->levels[k], end, &x, &notes, &sign);
        if (cri_parse_double(c->levels[k], end, &x) == (size_t)(end - c->levels[k]))
            numbers++;
        else
            other = k;
    }
    if (numbers > c->n_levels / 2 && numbers < c->n_levels && with_comma < c->n_levels)
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' is read as a category of %zu levels, because '%s' is not a number: use "
               "--missing-values if it means missing, or --real to find the cell",
               c->name, c->n_levels, c->levels[other]);
    else if (numbers < c->n_levels && with_comma == c->n_levels)
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' is read as a category of %zu levels, because '%s' has a decimal comma: "
               "use --decimal , if all of them are numbers",
               c->name, c->n_levels, c->levels[other]);
    else
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' is a category of %zu levels in %zu rows: each level becomes a column; "
               "--features '!%s' leaves it out%s",
               c->name, c->n_levels, rows, c->name,
               numbers == c->n_levels ? ", --real makes numbers of it" : "");
}

/* Against its own level as reference it has no terms. */
static void warn_of_one_level(cr_ctx *cx, const cr_column *c)
{
    if (c->type == CR_CATEGORY && c->n_levels == 1)
        cr_log(cx, CR_LOG_WARNING,
               "'%s' is '%s' in every row: it carries no information and has no coefficient",
               c->name, c->levels[0]);
}

void cri_design_warn_of_levels(cr_ctx *cx, const cr_table *t, const cr_column *c,
                               const cri_design_plan *p)
{
    if (p->needs->coding == CRI_CODING_CODE) return;
    warn_of_many_levels(cx, t, c);
    if (p->reference != CRI_REFERENCE_NONE) warn_of_one_level(cx, c);
}

/* Row numbers beside other features, codes such as -999 that were read as numbers, numbers with a unit, times of day,
 * and levels that may be one. */
static cr_status warn_of_odd_numbers(cr_ctx *cx, const cr_table *t, size_t k, size_t features,
                                     cri_sampled *known)
{
    cri_oddity       odd;
    const cr_column *c = cr_table_column(t, k);
    cr_status st = cri_find_oddity(cx, c, cr_table_rows(t), cri_sampled_ends(t, k, known), &odd);
    if (st != CR_OK) return st;
    if (odd.kind == CRI_ODD_CODE || odd.kind == CRI_ODD_UNIT || odd.kind == CRI_ODD_TIMES ||
        odd.kind == CRI_ODD_PACKED || odd.kind == CRI_ODD_ALIKE ||
        (odd.kind == CRI_ODD_ID && features > 1))
        cri_warn_of_oddity(cx, c, &odd);
    return CR_OK;
}

/* --- the fit --------------------------------------------------------------------------------- */

/* A further column that the model reads. */
static cr_status check_role(cr_ctx *cx, const cr_table *t, const char *name)
{
    const cr_column *c = cr_table_find(t, name);
    if (!c) return cri_table_no_column(cx, t, name);
    if (c->type == CR_CATEGORY)
        return cr_fail(cx, CR_EDATA,
                       "%s: column '%s' contains text, but the model needs numbers there",
                       cr_table_source(t), name);
    return CR_OK;
}

static cr_status check_roles(cr_ctx *cx, const cr_table *t, const cr_design_options *o,
                             const cri_design_needs *needs)
{
    for (size_t k = 0; k < CRI_MOST_ROLES; k++) {
        cr_status st = needs->roles[k] ? check_role(cx, t, needs->roles[k]) : CR_OK;
        if (st != CR_OK) return st;
    }
    const char *const own[] = { o->target, o->weights, o->sequence, o->time };
    const char *const words[] = { "target", "weights", "sequence", "time" };
    if (needs->aside && !cr_table_find(t, needs->aside))
        return cri_table_no_column(cx, t, needs->aside);
    for (size_t k = 0; k < 4; k++) {
        if (own[k] && !cr_table_find(t, own[k])) return cri_table_no_column(cx, t, own[k]);
        for (size_t i = 0; own[k] && i < k; i++)
            if (own[i] && strcmp(own[i], own[k]) == 0)
                return cr_fail(cx, CR_EARG, "column '%s' cannot be both the %s and the %s", own[k],
                               words[i], words[k]);
    }
    const cr_column *y = o->target ? cr_table_find(t, o->target) : NULL;
    if (y && cri_is_date(y->type)) {
        cr_fail(cx, CR_EDATA, "%s: the target '%s' is a date, which models do not predict",
                cr_table_source(t), o->target);
        return cr_fail_hint(cx,
                            "convert it to a number, such as days since an event, or use "
                            "--category %s if each date is a class",
                            o->target);
    }
    const cr_column *w = o->weights ? cr_table_find(t, o->weights) : NULL;
    if (w && w->type == CR_CATEGORY)
        return cr_fail(cx, CR_EDATA, "%s: the weights '%s' are not numbers", cr_table_source(t),
                       o->weights);
    return CR_OK;
}

static cr_status remember_roles(cr_ctx *cx, const cr_design_options *o,
                                const cri_design_needs *needs, cr_design *d)
{
    if (o->weights && !(d->weights = cri_string_copy(cx, o->weights))) return CR_ENOMEM;
    if (o->sequence && !(d->sequence = cri_string_copy(cx, o->sequence))) return CR_ENOMEM;
    if (o->time && !(d->time = cri_string_copy(cx, o->time))) return CR_ENOMEM;
    for (size_t k = 0; k < CRI_MOST_ROLES; k++)
        if (needs->roles[k] && !(d->roles[k] = cri_string_copy(cx, needs->roles[k])))
            return CR_ENOMEM;
    return CR_OK;
}

static cr_status remember_target(cr_ctx *cx, const cr_table *t, const cr_column *from,
                                 const cr_column *opt_w, bool classes, cri_design_column *target)
{
    cri_oddity odd = { .kind = CRI_ODD_ALIKE };
    if (classes && from->type != CR_CATEGORY) return cri_remember_classes(cx, t, from, target);
    if (from->type == CR_CATEGORY) {
        cr_status st = cri_find_alike(cx, from, &odd.alike[0], &odd.alike[1]);
        if (st != CR_OK) return st;
        if (odd.alike[0]) cri_warn_of_oddity(cx, from, &odd);
    }
    return remember_column(cx, t, from, opt_w, CRI_REFERENCE_NONE, false, target);
}

cr_missing cri_resolve_missing(int option, bool keep)
{
    if (option != CR_MISSING_AUTO) return (cr_missing)option;
    return keep ? CR_MISSING_KEEP : CR_MISSING_ERROR;
}

/* A design of columns as they are, or of their bases. */
typedef struct plan {
    cri_design_plan        of;
    const cri_basis_spec **specs; /* [columns of the table] NULL = as it is; NULL = all so  */
    expansion             *made;  /* [columns in use] what became of the specifications     */
    size_t                 n_made;
    size_t                 block[2]; /* its first column in the table, and behind its last */
} plan;

static bool is_in_block(const plan *p, size_t k) { return k >= p->block[0] && k < p->block[1]; }

/* What the chosen columns, but for those of the block, become. */
static cr_status remember_columns(cr_ctx *cx, const cr_table *t, plan *p, cr_design *d)
{
    cr_status   st = CR_OK;
    size_t      i = 0, j = 0;
    cri_sampled known = { 0 };
    for (size_t k = 0; k < cr_table_columns(t); k++) {
        if (!p->of.chosen[k] || is_in_block(p, k)) continue;
        const cr_column *c = cr_table_column(t, k);
        cri_design_warn_of_levels(cx, t, c, &p->of);
        CR_TRY(warn_of_odd_numbers(cx, t, k, p->of.needs->named ? 1 : d->n_columns, &known));
        CR_TRY(
            cri_design_remember(cx, t, c, &p->of, d->missing == CR_MISSING_IMPUTE, &d->columns[i]));
        d->columns[i].basis = p->made[i].basis; /* now the design's */
        p->made[i].basis = (cri_basis){ 0 };
        CR_TRY(add_terms(cx, d, i, p->of.needs->coding, &p->made[i], &j));
        i++;
    }
done:
    return st;
}

/* What column k of the table is expanded to. */
static cr_status expand(cr_ctx *cx, const cr_table *t, const plan *p, size_t k, const cr_column *c,
                        expansion *out)
{
    const cri_basis_spec *spec = p->specs ? p->specs[k] : NULL;
    *out = (expansion){ .powers = 1 };
    if (!spec) return CR_OK;
    if (spec->kind == CRI_BASIS_POLY) { /* powers of 0 and 1 are the same column */
        if (c->type != CR_BOOLEAN) out->powers = (unsigned)spec->count;
        return CR_OK;
    }
    const char *weights = p->of.options->weights;
    cr_status   st =
        cri_basis_learn(cx, t, c, weights ? cr_table_find(t, weights) : NULL, spec, &out->basis);
    out->first = p->of.reference != CRI_REFERENCE_NONE && cri_basis_sums_to_one(&out->basis);
    return st;
}

static bool keeps_block(const cr_table *t, const plan *p)
{
    if (p->of.needs->spread) return false;
    for (size_t k = 0; p->specs && k < cr_table_columns(t); k++)
        if (p->specs[k]) return false;
    return true;
}

/* A design with room for the chosen columns; a sparse block stays one unless a basis is wanted or
 * the model has no use for it: then its columns are spread out. */
static cr_status allot(cr_ctx *cx, const cr_table *t, plan *p, cr_design **out)
{
    cr_status     st = CR_OK;
    const cr_csr *X = keeps_block(t, p) ? cr_table_csr(t) : NULL;
    size_t        n_terms = 0;
    p->block[0] = X ? cr_table_csr_first(t) : 0;
    p->block[1] = X ? p->block[0] + X->columns : 0;
    for (size_t k = 0; k < cr_table_columns(t); k++) {
        if (!p->of.chosen[k] || is_in_block(p, k)) continue;
        const cr_column *c = cr_table_column(t, k);
        if (!c) CR_TRY(cri_fail_memory(cx, cr_table_rows(t) * sizeof(double)));
        CR_TRY(expand(cx, t, p, k, c, &p->made[p->n_made]));
        n_terms += count_terms(c, p->of.reference, p->of.needs->coding, &p->made[p->n_made++]);
    }
    *out = cri_design_new(cx, p->n_made, n_terms);
    if (!*out) CR_TRY(CR_ENOMEM);
    (*out)->missing = cri_resolve_missing(p->of.options->missing, p->of.needs->keep_missing);
    if (X) CR_TRY(cri_design_fit_block(cx, t, p->of.options, p->of.chosen + p->block[0], *out));
done:
    return st;
}

/* A design of the chosen columns, without target and roles. */
static cr_status fit_columns(cr_ctx *cx, const cr_table *t, const cri_design_plan *of,
                             cr_design **out)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      n = cr_table_columns(t);
    const char *basis = of->options->basis;
    plan        p = { .of = *of };
    cr_design  *d = NULL;

    p.made = cr_scratch_bytes(&s, n, sizeof *p.made);
    if (basis) p.specs = cr_scratch_bytes(&s, n, sizeof *p.specs);
    CR_TRY(s.status);
    if (basis) CR_TRY(cri_basis_choose(&s, t, of->chosen, basis, p.specs));
    CR_TRY(allot(cx, t, &p, &d));
    CR_TRY(remember_columns(cx, t, &p, d));
    *out = d;
    d = NULL;
done:
    for (size_t k = 0; k < p.n_made; k++) cri_basis_free(cx, &p.made[k].basis);
    cri_design_free(cx, d);
    cr_scratch_end(&s);
    return st;
}

/* By all rows of the table. */
static cr_status centre_powers(cr_ctx *cx, const cri_rows *rows, cri_centring how, cr_design *d)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    cri_term_moments *terms = cr_scratch_bytes(&s, d->p, sizeof *terms);
    CR_TRY(s.status);
    CR_TRY(cri_terms_measure(cx, rows, terms));
    CR_TRY(cri_centre_powers(cx, d, how, terms));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status learn_scales(cr_ctx *cx, const cr_table *t, const cri_design_needs *needs,
                              cr_design *d)
{
    cr_status st = CR_OK;
    cri_rows  rows = { 0 };
    bool      target = needs->standardise_target && d->target.name;
    bool      powers = needs->centre != CRI_CENTRE_NONE && cri_design_has_powers(d);
    if (!needs->standardise && !target && !powers) return CR_OK;
    CR_TRY(cri_rows_open(cx, d, t, CRI_TARGET_NEEDED, &rows));
    if (powers) CR_TRY(centre_powers(cx, &rows, needs->centre, d));
    if (needs->standardise) CR_TRY(cri_standardise_terms(cx, d, &rows));
    if (target) CR_TRY(cri_standardise_target(cx, d, &rows));
done:
    cri_rows_close(cx, &rows);
    return st;
}

cr_status cri_design_fit(cr_ctx *cx, const cr_table *t, const cr_design_options *o,
                         const cri_design_needs *needs, cr_design **out_design)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    cri_design_plan  p = { .options = o, .needs = needs };
    const cr_column *w = o->weights ? cr_table_find(t, o->weights) : NULL;
    cr_design       *d = NULL;
    bool             open;

    p.chosen = cr_scratch_bytes(&s, cr_table_columns(t), sizeof *p.chosen);
    CR_TRY(s.status);
    CR_TRY(check_roles(cx, t, o, needs));
    CR_TRY(cri_design_choose(cx, t, o, needs, p.chosen));
    CR_TRY(cri_references_read(&s, t, p.chosen, o->reference, &p.references));
    p.reference = needs->coding == CRI_CODING_CONTRAST ? p.references.usual : CRI_REFERENCE_NONE;
    CR_TRY(o->terms ? cri_design_fit_terms(cx, t, &p, &d) : fit_columns(cx, t, &p, &d));
    if (o->target)
        CR_TRY(remember_target(cx, t, cr_table_find(t, o->target), w, needs->classes, &d->target));
    CR_TRY(remember_roles(cx, o, needs, d));
    CR_TRY(cri_transform_parse(cx, o->transform_target, &d->transform, &open));
    d->series = needs->series;
    CR_TRY(learn_scales(cx, t, needs, d));
    d->sequences = needs->sequences; /* only now: the scales do not depend on them */
    *out_design = d;
    d = NULL;
done:
    cri_design_free(cx, d);
    cr_scratch_end(&s);
    return st;
}

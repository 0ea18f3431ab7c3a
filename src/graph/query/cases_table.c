/* cases_table.c -- rows of evidence from a table. */
#include "cases_table.h"
#include "base/list.h"
#include "data/design/sequences.h"
#include "base/number.h"
#include "graph/files/network_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- columns that are no variables, or the same one ------------------------------------------ */

static const char *variable_name(const void *vs, size_t v) { return cr_variable_name(vs, v); }

/* The nearest variable, or "". */
static const char *nearest(cr_ctx *cx, const cr_variables *vs, const char *name)
{
    cr_fail(cx, CR_EDATA, "there is no variable '%s'", name);
    cr_fail_nearest(cx, name, "variables", cr_variables_count(vs), variable_name, vs);
    return cr_error_nearest(cx);
}

void cri_cases_warn_unused(cr_ctx *cx, const cr_variables *vs, const char *const *names, size_t n)
{
    enum { FEW = 8 };
    char   text[1024] = "";
    size_t used = 0, unused = 0;
    for (size_t i = 0; i < n; i++) {
        const char *near;
        if (cr_variable_lookup(vs, names[i]) != CR_NONE || unused++ >= FEW || used >= sizeof text)
            continue;
        near = nearest(cx, vs, names[i]);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s'%s'", unused > 1 ? ", " : "",
                                 names[i]);
        if (near[0] && used < sizeof text)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, " (did you mean '%s'?)", near);
    }
    if (unused == 1)
        cr_log(cx, CR_LOG_WARNING,
               "column %s does not match a variable of the network and is left out", text);
    if (unused > 1)
        cr_log(cx, CR_LOG_WARNING,
               "%zu columns do not match a variable of the network; left out: %s%s", unused, text,
               unused > FEW ? ", ..." : "");
}

cr_status cri_cases_refuse_twice(cr_scratch *s, const cr_variables *vs, const char *source,
                                 const char *const *names, size_t n)
{
    size_t *first = cr_scratch_bytes(s, cr_variables_count(vs), sizeof *first);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; i < n; i++) {
        size_t v = cr_variable_lookup(vs, names[i]);
        if (v != CR_NONE && first[v] > 0) {
            cr_fail(s->cx, CR_EDATA, "columns %zu and %zu of %s are both '%s'", first[v], i + 1,
                    source, names[i]);
            return cr_fail_hint(s->cx, "leave one of them out, or rename it");
        }
        if (v != CR_NONE) first[v] = i + 1; /* 0: none yet */
    }
    return CR_OK;
}

cr_status cri_cases_refuse_order(cr_ctx *cx, cri_any_network any, const cri_case_order *opt_order)
{
    if (any.methods->follow || !opt_order) return CR_OK;
    const char *name = opt_order->sequence   ? "--sequence"
                       : opt_order->time     ? "--time"
                       : opt_order->filtered ? "--filtered"
                                             : NULL;
    if (!name) return CR_OK;
    cr_fail(cx, CR_EARG, "%s is for networks with slices: here every row is a case by itself",
            name);
    return cr_fail_hint(cx, "a network that repeats over time has \"slices\": 2 in its JSON");
}

/* --- columns that are variables -------------------------------------------------------------- */

/* A state that the network does not have: where it is first met. */
static cr_status refuse_level(cr_ctx *cx, cri_any_network any, const cr_table *t,
                              const cri_case_column *k, size_t level)
{
    size_t row = 0;
    while (row < cr_table_rows(t) && k->column->codes[row] != level) row++;
    cr_fail(cx, CR_EDATA, "%s, row %zu: '%s' has no state '%s'", cr_table_source(t), row + 1,
            k->column->name, k->column->levels[level]);
    return cri_nearest_state(cx, cri_any_variables(any), k->variable, k->column->levels[level]);
}

/* What the levels of a column mean. */
static cr_status match_states(cr_scratch *s, cri_any_network any, const cr_table *t,
                              cri_case_column *k)
{
    const cr_column *column = k->column;
    k->state = cr_scratch_index(s, column->n_levels);
    if (s->status != CR_OK) return s->status;
    if (column->type != CR_CATEGORY && column->missing < cr_table_rows(t))
        return cr_fail(s->cx, CR_EDATA, "column '%s' is not read as states", column->name);
    for (size_t i = 0; i < column->n_levels; i++) {
        k->state[i] = cr_state_lookup(cri_any_variables(any), k->variable, column->levels[i]);
        if (k->state[i] == CR_NONE) return refuse_level(s->cx, any, t, k, i);
    }
    return CR_OK;
}

static bool is_number(const char *text)
{
    double x;
    size_t n = strlen(text);
    return n > 0 && cri_parse_double(text, text + n, &x) == n;
}

/* A column of a variable that has values holds numbers. */
static cr_status match_values(cr_ctx *cx, const cr_table *t, const cr_column *column)
{
    size_t row = 0, rows = cr_table_rows(t);
    if (column->type != CR_CATEGORY || column->missing == rows) return CR_OK;
    while (row + 1 < rows &&
           (column->codes[row] == CR_MISSING_CODE || is_number(column->levels[column->codes[row]])))
        row++;
    return cr_fail(cx, CR_EDATA,
                   "%s, row %zu: '%s' is a Gaussian variable, but '%s' is not a number",
                   cr_table_source(t), row + 1, column->name, column->levels[column->codes[row]]);
}

/* Does the column say where the row belongs? */
static bool is_order(const cri_case_order *opt_order, const char *name)
{
    return opt_order && ((opt_order->sequence && strcmp(opt_order->sequence, name) == 0) ||
                         (opt_order->time && strcmp(opt_order->time, name) == 0));
}

cr_status cri_cases_match(cr_scratch *s, cri_any_network any, const cr_table *t,
                          const cri_case_order *opt_order, cri_case_column **out, size_t *out_n)
{
    cr_status           st = CR_OK;
    const cr_variables *vs = cri_any_variables(any);
    size_t              columns = cr_table_columns(t), n = 0, named = 0;
    cri_case_column    *known = cr_scratch_bytes(s, columns, sizeof *known);
    const char        **names = cr_scratch_bytes(s, columns, sizeof *names);
    CR_TRY(s->status);
    for (size_t i = 0; i < columns; i++) {
        const cr_column *column = cr_table_column(t, i);
        if (!column) CR_TRY(CR_ENOMEM);
        if (!is_order(opt_order, column->name)) names[named++] = column->name;
    }
    CR_TRY(cri_cases_refuse_twice(s, vs, cr_table_source(t), names, named));
    for (size_t i = 0; i < columns; i++) {
        const cr_column *column = cr_table_column(t, i);
        size_t           v = cr_variable_lookup(vs, column->name);
        if (v == CR_NONE || is_order(opt_order, column->name)) continue;
        known[n] =
            (cri_case_column){ .variable = v, .gaps = column->missing > 0, .column = column };
        CR_TRY(any.methods->states ? match_states(s, any, t, &known[n])
                                   : match_values(s->cx, t, column));
        n++;
    }
    if (n > 0) cri_cases_warn_unused(s->cx, vs, names, named);
    *out = known, *out_n = n;
done:
    return st;
}

cr_status cri_cases_follow(cri_cases *c, const cr_table *t, const cri_case_order *opt_order,
                           const cri_case_column *columns, size_t n)
{
    cr_status      st = CR_OK;
    cri_sequences *q = NULL;
    cri_case_order o = opt_order ? *opt_order : (cri_case_order){ 0 };
    if (!c->any.methods->follow) return cri_cases_refuse_order(c->cx, c->any, opt_order);
    CR_TRY(cri_sequences_find(c->cx, t, o.sequence, o.time, &q));
    CR_TRY(c->any.methods->follow(c, &(cri_followed){ q, columns, n, o.filtered }));
done:
    cri_sequences_free(c->cx, q);
    return st;
}

double cri_case_cell(const cri_case_column *k, size_t row)
{
    const cr_column *c = k->column;
    if (!k->state) return c->type == CR_CATEGORY ? NAN : c->values[row * c->stride];
    bool missing = c->type != CR_CATEGORY || c->codes[row] == CR_MISSING_CODE;
    return missing ? NAN : (double)k->state[c->codes[row]];
}

/* --- what all rows have, and what is asked --------------------------------------------------- */

static cr_status check_finding(cr_ctx *cx, const cr_variables *vs, const cr_finding *f,
                               const cri_case_column *columns, size_t n, const char *source,
                               const char *table)
{
    const char *name = cr_variable_name(vs, f->variable);
    for (size_t i = 0; i < n; i++)
        if (columns[i].variable == f->variable) {
            cr_fail(cx, CR_EDATA, "'%s' is given in %s and is also a column of %s", name, source,
                    table);
            return cr_fail_hint(cx, "leave one of them out");
        }
    if (f->kind != CR_FINDING_SOFT) return CR_OK;
    cr_fail(cx, CR_EUNSUPPORTED, "%s: infer does not take soft evidence, such as that on '%s'",
            source, name);
    return cr_fail_hint(cx, "query does, one case at a time");
}

cr_status cri_cases_check_known(cr_ctx *cx, const cr_variables *vs, const cr_findings *known,
                                const cri_case_column *columns, size_t n, const char *source,
                                const char *table)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < known->n && st == CR_OK; i++)
        st = check_finding(cx, vs, &known->item[i], columns, n, source, table);
    return st;
}

cr_status cri_cases_targets(cr_scratch *s, const cri_cases *c, const char *opt_list,
                            const cri_case_column *columns, size_t n, size_t **out, size_t *out_n)
{
    cr_status           st = CR_OK;
    const cr_variables *vs = cri_any_variables(c->any);
    size_t              all = cr_variables_count(vs), count = 0, named = 0;
    bool               *known = cr_scratch_bytes(s, all, sizeof *known);
    char              **names = NULL;
    size_t             *target;
    CR_TRY(cri_list_split(s, opt_list, &names, &named));
    target = cr_scratch_index(s, named > all ? named : all);
    CR_TRY(s->status);
    for (; count < named; count++) {
        CR_TRY(cr_variable_find(s->cx, vs, names[count], &target[count]));
        for (size_t k = 0; k < count; k++)
            if (target[k] == target[count])
                CR_TRY(cr_fail(s->cx, CR_EARG, "--target names '%s' twice", names[count]));
    }
    for (size_t i = 0; i < n; i++) known[columns[i].variable] = !columns[i].gaps;
    for (size_t v = 0; v < all && named == 0; v++)
        if (!known[v] && !c->any.methods->is_fixed(c, v)) target[count++] = v;
    *out = target, *out_n = count;
done:
    return st;
}

/* --- what is said of them -------------------------------------------------------------------- */

void cri_cases_warn_method(const cri_cases *c)
{
    if (c->why[0])
        cr_log(c->cx, CR_LOG_WARNING, "%s; %s was used for all rows%s", c->why, c->method,
               c->divorced ? "; --method ve may process each row separately, exactly" : "");
}

void cri_cases_warn_rows(const cri_cases *c, size_t rows)
{
    if (c->impossible > 0)
        cr_log(c->cx, CR_LOG_WARNING,
               c->any.methods->states
                   ? "%zu of %zu rows are impossible in this network and get no posterior"
                   : "in %zu of %zu rows an observation is determined by others: they get no "
                     "posterior",
               c->impossible, rows);
    if (c->lost > 0)
        cr_log(c->cx, CR_LOG_WARNING,
               "no sample is consistent with %zu of %zu rows: they may be impossible, or need "
               "another --method",
               c->lost, rows);
    if (c->unsure > 0)
        cr_log(c->cx, CR_LOG_WARNING,
               "%s has not converged in %zu of %zu rows: their posteriors may be far off",
               c->method, c->unsure, rows);
    if (c->thin > 0)
        cr_log(c->cx, CR_LOG_WARNING,
               "%s has fewer than 100 effective samples in %zu of %zu rows: their standard errors "
               "are too small",
               c->method, c->thin, rows);
}

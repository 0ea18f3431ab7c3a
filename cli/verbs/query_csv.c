/* query_csv.c -- answers of query as CSV: query, variable, state, value; where some answer has
 * causes also the probabilities before and after, of parameters their value, and where some answer
 * is approximate how it came. */
#include "approximate.h"
#include "query_answers.h"
#include "base/list.h"

#include <math.h>
#include <string.h>

size_t query_field_bytes(const cr_variables *vs, size_t n)
{
    size_t names = 1, states = 1;
    for (size_t v = 0; v < n; v++) {
        size_t most = 0;
        for (size_t s = 0; s < cr_variable_states(vs, v); s++) {
            size_t length = cri_list_quote(cr_state_name(vs, v, s), NULL, 0);
            if (length > most) most = length;
        }
        names += cri_list_quote(cr_variable_name(vs, v), NULL, 0) + 1;
        states += most + 1;
    }
    return names > states ? names : states;
}

void query_csv_header(const query_job *j)
{
    out_text(j->c, "query,variable,state,value%s%s%s\n", j->causes ? ",before,after" : "",
             j->parameters ? ",parameter" : "", j->errors ? ",method,se,converged" : "");
}

/* --- rows ------------------------------------------------------------------------------------ */

/* What stands behind the value of a row. */
typedef struct rest {
    double      before, after, parameter, se; /* NaN: none */
    const char *method, *settled;
} rest;

/* The name of a member, or its text. */
static const char *word_of(const cri_sheet *v, bool names)
{
    return names ? cri_sheet_name(v) : cri_sheet_text(v);
}

static size_t append(const query_job *j, const char *word, size_t used)
{
    if (used > 0) j->field[used++] = ',';
    return used + cri_list_quote(word, j->field + used, j->bytes - used);
}

static size_t append_backwards(const query_job *j, const cri_sheet *v, bool names, size_t used)
{
    if (cri_sheet_next(v)) used = append_backwards(j, cri_sheet_next(v), names, used);
    return append(j, word_of(v, names), used);
}

/* The names of all members, or their texts, as one field: a list with commas. */
static void put_field(const query_job *j, const cri_sheet *opt_list, bool names, bool backwards)
{
    const cri_sheet *first = cri_sheet_first(opt_list);
    size_t           used = 0;
    if (cri_sheet_size(opt_list) == 1) out_csv_field(j->c, word_of(first, names));
    if (cri_sheet_size(opt_list) < 2) return;
    if (backwards)
        append_backwards(j, first, names, 0);
    else
        for (const cri_sheet *v = first; v; v = cri_sheet_next(v))
            used = append(j, word_of(v, names), used);
    out_csv_field(j->c, j->field);
}

/* A number, or nothing. */
static void put_number(const query_job *j, double x)
{
    char text[32];
    out_text(j->c, ",%s", out_number(x, true, text));
}

static void end_row(const query_job *j, double value, const rest *r)
{
    put_number(j, value);
    if (j->causes) put_number(j, r->before);
    if (j->causes) put_number(j, r->after);
    if (j->parameters) put_number(j, r->parameter);
    if (j->errors) {
        out_text(j->c, ",%s", r->method);
        put_number(j, r->se);
        out_text(j->c, ",%s", r->settled);
    }
    out_text(j->c, "\n");
}

/* One variable and its state, or none. */
static void put_row(const query_job *j, const char *variable, const char *state, double value,
                    const rest *r)
{
    out_csv_field(j->c, j->text);
    out_text(j->c, ",");
    out_csv_field(j->c, variable);
    out_text(j->c, ",");
    out_csv_field(j->c, state);
    end_row(j, value, r);
}

/* Several: {"x": "yes", "y": "no"}, or a list of names. */
static void put_several(const query_job *j, const cri_sheet *list, bool backwards, double value,
                        const rest *r)
{
    bool object = cri_sheet_kind_of(list) == CRI_SHEET_OBJECT;
    out_csv_field(j->c, j->text);
    out_text(j->c, ",");
    put_field(j, list, object, backwards);
    out_text(j->c, ",");
    if (object) put_field(j, list, false, backwards);
    end_row(j, value, r);
}

/* --- values ---------------------------------------------------------------------------------- */

static double real_of(const cri_sheet *object, const char *name)
{
    return cri_sheet_real(cri_sheet_get(object, name));
}

/* {"x": {"yes": 0.2}}, {"x": {"mean": 1, "sd": 2}}; with standard errors in the same form. */
static void csv_numbers(const query_job *j, const cri_sheet *value, rest *r)
{
    const cri_sheet *se = cri_sheet_first(cri_sheet_get(j->answer, "standard_errors"));
    for (const cri_sheet *v = cri_sheet_first(value); v; v = cri_sheet_next(v)) {
        const cri_sheet *error = cri_sheet_first(se);
        for (const cri_sheet *s = cri_sheet_first(v); s; s = cri_sheet_next(s)) {
            if (error) r->se = cri_sheet_real(error);
            put_row(j, cri_sheet_name(v), cri_sheet_name(s), cri_sheet_real(s), r);
            if (error) error = cri_sheet_next(error);
        }
        if (se) se = cri_sheet_next(se);
    }
}

/* {"x": "yes"} with the probability of all together, or {"x": 1.2}. */
static void csv_assignment(const query_job *j, const cri_sheet *value, const rest *r)
{
    for (const cri_sheet *v = cri_sheet_first(value); v; v = cri_sheet_next(v)) {
        const char *state = cri_sheet_text(v);
        put_row(j, cri_sheet_name(v), state ? state : "value",
                state ? real_of(j->answer, "probability") : cri_sheet_real(v), r);
    }
}

/* Of several Gaussian variables: means, standard deviations, covariances of pairs. */
static void csv_joint(query_job *j, const cri_sheet *names, const rest *r)
{
    const cri_sheet *mean = cri_sheet_first(cri_sheet_get(j->answer, "mean")), *v, *u, *row, *x;
    size_t           i = 0, k;
    row = cri_sheet_first(cri_sheet_get(j->answer, "covariance"));
    for (v = cri_sheet_first(names); v; v = cri_sheet_next(v), i++) {
        for (k = 0, x = cri_sheet_first(row); k < i; k++) x = cri_sheet_next(x);
        put_row(j, cri_sheet_text(v), "mean", cri_sheet_real(mean), r);
        put_row(j, cri_sheet_text(v), "sd", sqrt(cri_sheet_real(x)), r);
        mean = cri_sheet_next(mean);
        row = cri_sheet_next(row);
    }
    i = 0;
    row = cri_sheet_first(cri_sheet_get(j->answer, "covariance"));
    for (v = cri_sheet_first(names); v; v = cri_sheet_next(v), row = cri_sheet_next(row), i++) {
        for (k = 0, x = cri_sheet_first(row); k <= i; k++) x = cri_sheet_next(x);
        for (u = cri_sheet_next(v); u; u = cri_sheet_next(u), x = cri_sheet_next(x)) {
            cri_sheet_clear(j->shown);
            cri_sheet *pair = cri_put_list(j->shown, "pair");
            cri_put_text(pair, NULL, cri_sheet_text(v));
            cri_put_text(pair, NULL, cri_sheet_text(u));
            out_csv_field(j->c, j->text);
            out_text(j->c, ",");
            put_field(j, pair, false, false);
            out_text(j->c, ",covariance");
            end_row(j, cri_sheet_real(x), r);
        }
    }
}

/* The number of a row that is its value, and those that have columns of their own. */
static double take_numbers(const cri_sheet *row, rest *r)
{
    const cri_sheet *last = NULL, *factor = cri_sheet_get(row, "factor");
    if (factor) {
        double x = cri_sheet_real(factor);
        r->before = real_of(row, "before");
        r->after = real_of(row, "after");
        r->se = real_of(row, "factor_se");
        return isnan(x) ? INFINITY : x;
    }
    if (cri_sheet_get(row, "derivative")) r->parameter = real_of(row, "value");
    for (const cri_sheet *v = cri_sheet_first(row); v; v = cri_sheet_next(v))
        if (cri_sheet_kind_of(v) == CRI_SHEET_REAL) last = v;
    return cri_sheet_real(last);
}

/* {"states": {"x": "yes"}, "p": 0.2}, {"variable": "x", "state": "yes", "given": {...}, ...}; of a
 * parameter the last of its scope comes first. */
static void csv_object(query_job *j, const cri_sheet *row, rest *r)
{
    const cri_sheet *states = cri_sheet_get(row, "states"), *given = cri_sheet_get(row, "given");
    const char      *variable = cri_sheet_text(cri_sheet_get(row, "variable"));
    const char      *state = cri_sheet_text(cri_sheet_get(row, "state"));
    double           value = take_numbers(row, r);
    if (states) {
        put_several(j, states, cri_sheet_get(row, "table") != NULL, value, r);
    } else if (given) {
        cri_sheet_clear(j->shown);
        cri_put_copy(j->shown, "all", given);
        cri_put_text(cri_sheet_get(j->shown, "all"), variable, state);
        put_several(j, cri_sheet_get(j->shown, "all"), true, value, r);
    } else {
        put_row(j, variable ? variable : "", state ? state : "", value, r);
    }
}

static void csv_list(query_job *j, const cri_sheet *value, rest *r)
{
    double i = 1;
    for (const cri_sheet *v = cri_sheet_first(value); v; v = cri_sheet_next(v), i++) {
        if (cri_sheet_kind_of(v) == CRI_SHEET_OBJECT)
            csv_object(j, v, r);
        else if (cri_sheet_kind_of(v) == CRI_SHEET_LIST)
            put_several(j, v, false, i, r);
        else
            put_row(j, cri_sheet_text(v), "", i, r);
    }
}

static void csv_value(query_job *j, const cri_sheet *value, rest *r)
{
    switch (cri_sheet_kind_of(value)) {
    case CRI_SHEET_OBJECT:
        if (cri_sheet_kind_of(cri_sheet_first(value)) == CRI_SHEET_OBJECT)
            csv_numbers(j, value, r);
        else
            csv_assignment(j, value, r);
        break;
    case CRI_SHEET_LIST:
        if (cri_sheet_get(j->answer, "covariance"))
            csv_joint(j, value, r);
        else
            csv_list(j, value, r);
        break;
    case CRI_SHEET_FLAG:
        put_row(j, "", "", cri_sheet_is_true(value), r);
        break;
    default:
        if (strcmp(cri_sheet_name(value), "density") != 0) {
            put_row(j, "", "", cri_sheet_real(value), r);
            break;
        }
        put_row(j, "", "density", cri_sheet_real(value), r);
        put_row(j, "", "log_density", real_of(j->answer, "log_density"), r);
    }
}

void query_answer_csv(query_job *j, const cr_query_answer *a)
{
    rest r = { .before = NAN, .after = NAN, .parameter = NAN, .method = a->method };
    r.settled = a->exact ? "" : a->open ? "false" : approximate_settled(&a->error);
    r.se = a->exact || a->error.samples == 0 ? NAN : cri_answer_report(&j->words, a).se;
    csv_value(j, cri_answer_value(a->kind, j->answer), &r);
    if (cri_sheet_status(j->shown) != CR_OK) out_fail(j->c, CR_ENOMEM);
}

void query_difference_csv(query_job *j, const char *opt_variable, const char *opt_state,
                          double difference)
{
    rest r = { NAN, NAN, NAN, NAN, "", "" };
    put_row(j, opt_variable ? opt_variable : "", opt_state ? opt_state : "", difference, &r);
}

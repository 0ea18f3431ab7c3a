/* dist_input.c -- what the verb dist is given: numbers, parameters, data to fit. */
#include "dist_job.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- numbers on the command line -------------------------------------------------------------- */

static bool is_break(char ch) { return ch == ',' || ch == ';'; }

size_t dist_count_numbers(const char *text)
{
    size_t n = 1;
    for (; *text; text++) n += is_break(*text);
    return n;
}

/* Reads numbers with commas or semicolons between them into out. */
cr_status dist_read_numbers(cli *c, const char *what, const char *text, double *out)
{
    for (const char *at = text;; at++) {
        const char *end = at;
        while (*end && !is_break(*end)) end++;
        if (end == at || cri_parse_double(at, end, out) != (size_t)(end - at))
            return cr_fail(c->cx, CR_EARG, "%s: '%.*s' is not a number", what, (int)(end - at), at);
        out++;
        if (!*end) return CR_OK;
        at = end;
    }
}

/* --- parameters ------------------------------------------------------------------------------- */

enum { MOST_PARAMETERS = 8 };

size_t dist_parameter_count(const cr_dist_class *d)
{
    size_t n = 0;
    while (cr_dist_parameter(d, n)) n++;
    return n;
}

static const char *parameter_name(const void *d, size_t i) { return cr_dist_parameter(d, i)->name; }

/* Which parameter a word sets: "name=value" that one, else the next free. */
static cr_status place_word(dist_job *j, const char *word, const char *taken[], size_t *which,
                            const char **value)
{
    const char *equals = strchr(word, '=');
    size_t      n = dist_parameter_count(j->dist), at = 0;
    char        name[64];
    if (!equals) {
        while (at < n && taken[at]) at++;
        *value = word;
    } else {
        snprintf(name, sizeof name, "%.*s", (int)(equals - word), word);
        while (at < n && strcmp(cr_dist_parameter(j->dist, at)->name, name) != 0) at++;
        *value = equals + 1;
        if (at == n) {
            cr_fail(j->c->cx, CR_EARG, "%s has no parameter '%s'", cr_dist_name(j->dist), name);
            return cr_fail_nearest(j->c->cx, name, "parameters", n, parameter_name, j->dist);
        }
        if (taken[at])
            return cr_fail(j->c->cx, CR_EARG, "%s: %s is given twice", cr_dist_name(j->dist), name);
    }
    *which = at;
    return CR_OK;
}

/* All words into one array, in the order of the declaration.  A vector that comes last may also be
 * spread over several words. */
cr_status dist_read_parameters(dist_job *j)
{
    cr_status   st = CR_OK;
    const char *taken[MOST_PARAMETERS] = { NULL }, *value;
    size_t      n = dist_parameter_count(j->dist), at = 0, room = n;
    for (size_t i = 1; i < j->c->n_args; i++) room += dist_count_numbers(j->c->args[i]);
    j->v = cr_scratch_f64(&j->s, room);
    double *extra = cr_scratch_f64(&j->s, room);
    size_t  n_extra = 0;
    CR_TRY(j->s.status);
    for (size_t i = 1; i < j->c->n_args; i++) {
        size_t which = 0;
        CR_TRY(place_word(j, j->c->args[i], taken, &which, &value));
        bool spread = which == n && cr_dist_parameter(j->dist, n - 1)->shape == CR_SHAPE_VECTOR;
        if (which == n && !spread) {
            cr_fail(j->c->cx, CR_EARG, "%s: '%s' is one parameter too many", cr_dist_name(j->dist),
                    value);
            CR_TRY(cr_fail_hint(j->c->cx, "credence dist %s explains them", cr_dist_name(j->dist)));
        }
        if (which < n)
            taken[which] = value;
        else {
            CR_TRY(dist_read_numbers(j->c, cr_dist_parameter(j->dist, n - 1)->name, value,
                                     extra + n_extra));
            n_extra += dist_count_numbers(value);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const cr_dist_param *p = cr_dist_parameter(j->dist, i);
        if (taken[i]) {
            CR_TRY(dist_read_numbers(j->c, p->name, taken[i], j->v + at));
            at += dist_count_numbers(taken[i]);
        } else if (j->o->fit && !p->given) {
            j->v[at++] = NAN;
        } else {
            cr_fail(j->c->cx, CR_EARG, "%s: %s is missing: %s; %s", cr_dist_name(j->dist), p->name,
                    p->help, p->domain);
            CR_TRY(cr_fail_hint(j->c->cx, "for example %s=%s", p->name, p->example));
        }
    }
    for (size_t i = 0; i < n_extra; i++) j->v[at++] = extra[i];
    j->n = at;
done:
    return st;
}

/* --- fit -------------------------------------------------------------------------------------- */

static const char *column_name(const void *t, size_t i) { return cr_table_column(t, i)->name; }

static cr_status choose_column(dist_job *j, const cr_table *t, const char *name,
                               const cr_column **out)
{
    size_t n = cr_table_columns(t);
    *out = name ? cr_table_find(t, name) : n == 1 ? cr_table_column(t, 0) : NULL;
    if (*out && (*out)->type != CR_CATEGORY) return CR_OK;
    if (*out)
        return cr_fail(j->c->cx, CR_EDATA, "column '%s' of %s holds no numbers", (*out)->name,
                       cr_table_source(t));
    if (name)
        cr_fail(j->c->cx, CR_EDATA, "column '%s' not found in %s", name, cr_table_source(t));
    else
        cr_fail(j->c->cx, CR_EARG, "%s has %zu columns: which one?", cr_table_source(t), n);
    cr_fail_nearest(j->c->cx, name ? name : "", "columns", n, column_name, t);
    if (name) return CR_EDATA;
    return cr_fail_hint(j->c->cx, "--fit %s:%s", cr_table_source(t), n ? column_name(t, 0) : "x");
}

/* The values of a column that are there; those that are missing are told of. */
static cr_status read_column(dist_job *j, const cr_table *t, const char *name, double **out,
                             size_t *out_n)
{
    cr_status        st = CR_OK;
    const cr_column *col = NULL;
    size_t           n = 0;
    CR_TRY(choose_column(j, t, name, &col));
    double *x = cr_scratch_f64(&j->s, cr_table_rows(t));
    CR_TRY(j->s.status);
    for (size_t i = 0; i < cr_table_rows(t); i++)
        if (!isnan(col->values[i * col->stride])) x[n++] = col->values[i * col->stride];
    if (col->missing)
        cr_log(j->c->cx, CR_LOG_WARNING, "%zu missing values of '%s' are left out", col->missing,
               col->name);
    *out = x, *out_n = n;
done:
    return st;
}

/* With categories not given, there are as many as the data show. */
static cr_status size_categories(dist_job *j, const double *x, size_t n)
{
    double top = 0;
    if (cr_dist_parameter(j->dist, 0)->shape != CR_SHAPE_VECTOR || j->n != 1) return CR_OK;
    for (size_t i = 0; i < n; i++) top = fmax(top, x[i]);
    if (top > 1e6)
        return cr_fail(j->c->cx, CR_EDATA, "%s: a value is %g", cr_dist_name(j->dist), top);
    j->n = (size_t)top + 1;
    j->v = cr_scratch_f64(&j->s, j->n);
    for (size_t i = 0; j->v && i < j->n; i++) j->v[i] = NAN;
    return j->s.status;
}

cr_status dist_fit(dist_job *j)
{
    cr_status   st = CR_OK;
    cr_table   *t = NULL;
    double     *x = NULL, loglik = 0;
    size_t      n = 0;
    const char *colon = strrchr(j->o->fit, ':'), *column = NULL;
    char       *path = cr_scratch_bytes(&j->s, strlen(j->o->fit) + 1, 1);
    CR_TRY(j->s.status);
    memcpy(path, j->o->fit, strlen(j->o->fit) + 1);
    if (colon && access(path, F_OK) != 0 &&
        strncmp(path, "sqlite:", (size_t)(colon - path) + 1) != 0) {
        path[colon - j->o->fit] = '\0';
        column = colon + 1;
    }
    CR_TRY(cr_table_read(j->c->cx, path, &j->c->read, &t));
    CR_TRY(read_column(j, t, column, &x, &n));
    CR_TRY(size_categories(j, x, n));
    CR_TRY(cr_dist_fit(j->c->cx, j->dist, x, NULL, n, j->v, j->n, &loglik));
    json_object_set_new(j->root, "rows", json_integer((json_int_t)n));
    for (size_t i = 0; cr_dist_parameter(j->dist, 0)->shape == CR_SHAPE_SCALAR && i < j->n; i++)
        dist_add_row(j, "parameter", cr_dist_parameter(j->dist, i)->name, j->v[i]);
    for (size_t i = 0; cr_dist_parameter(j->dist, 0)->shape == CR_SHAPE_VECTOR && i < j->n; i++) {
        char at[32];
        snprintf(at, sizeof at, "%zu", i);
        dist_add_row(j, "parameter", at, j->v[i]);
    }
    dist_add_number(j, "log_likelihood", loglik);
done:
    cr_table_free(j->c->cx, t);
    return st;
}

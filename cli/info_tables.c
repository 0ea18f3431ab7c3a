/* info_tables.c -- info on two files, on rows, and on a source. */
#include "info_job.h"
#include "base/list.h"
#include "base/number.h"
#include "prob/info_source.h"
#include "study/info_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- two files ------------------------------------------------------------------------------- */

static json_t *divergence_object(const info_job *j, const char *const *names, size_t n,
                                 const cr_divergence *d,
                                 json_t *(*number)(const info_job *, double))
{
    json_t *o = json_object(), *columns = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(columns, json_string_nocheck(names[i]));
    json_object_set_new(o, "columns", columns);
    json_object_set_new(o, "method", json_string(d->counted ? "counts" : "neighbours"));
    json_object_set_new(o, "rows", json_integer((json_int_t)d->rows[0]));
    json_object_set_new(o, "rows_other", json_integer((json_int_t)d->rows[1]));
    json_object_set_new(o, "entropy", number(j, d->entropy));
    json_object_set_new(o, "cross_entropy", number(j, d->cross_entropy));
    json_object_set_new(o, "kl", number(j, d->kl));
    json_object_set_new(o, "se", number(j, d->se));
    json_object_set_new(o, "lower", number(j, d->lower));
    json_object_set_new(o, "upper", number(j, d->upper));
    json_object_set_new(o, "js", number(j, d->js));
    return o;
}

static void tell_divergence(const info_job *j, const char *name, const cr_divergence *d)
{
    info_tell_dropped(j, j->a, d->dropped[0]);
    info_tell_dropped(j, j->b, d->dropped[1]);
    if (isinf(d->kl))
        cr_log(j->c->cx, CR_LOG_WARNING,
               "'%s': %s lacks a value that %s has, so the divergence is infinite; --smoothing 0.5 "
               "makes it finite",
               name, cr_table_source(j->b), cr_table_source(j->a));
    if (d->shared > 0)
        cr_log(j->c->cx, CR_LOG_WARNING,
               "'%s': %zu values stand in both files; the estimate holds for independent samples",
               name, d->shared);
}

static cr_status compare(info_job *j, const char *const *names, size_t n, json_t *list)
{
    cr_divergence d;
    cr_status     st = cr_table_divergence(j->c->cx, j->a, j->b, names, n, &j->how, j->seed, &d);
    if (st != CR_OK) return st;
    tell_divergence(j, names[0], &d);
    json_array_append_new(list, divergence_object(j, names, n, &d, info_number));
    json_t *row = divergence_object(j, names, n, &d, info_cell);
    json_array_append_new(j->rows, info_flat(row));
    json_decref(row);
    return CR_OK;
}

cr_status info_common_columns(info_job *j, const char **names, size_t *n)
{
    size_t k = 0;
    for (size_t i = 0; i < *n; i++) {
        if (cr_table_find(j->b, names[i]))
            names[k++] = names[i];
        else
            cr_log(j->c->cx, CR_LOG_WARNING, "column '%s' is not in %s and is left out", names[i],
                   cr_table_source(j->b));
    }
    *n = k;
    if (k > 0) return CR_OK;
    return cr_fail(j->c->cx, CR_EDATA, "%s and %s have no column in common", cr_table_source(j->a),
                   cr_table_source(j->b));
}

cr_status info_divergence(info_job *j)
{
    cr_status    st = CR_OK;
    const char **names = NULL;
    size_t       n = 0;
    json_t      *list = json_array();
    CR_TRY(info_columns(j, &names, &n));
    if (!j->o->columns) CR_TRY(info_common_columns(j, names, &n));
    for (size_t i = 0; i < n; i++) {
        st = compare(j, &names[i], 1, list);
        if (st == CR_EDATA && !j->o->columns) { /* one of all: told, and left out */
            cr_log(j->c->cx, CR_LOG_WARNING, "%s", cr_error(j->c->cx));
            st = CR_OK;
        }
        CR_TRY(st);
    }
    if (j->o->columns && n > 1) CR_TRY(compare(j, names, n, list));
    json_object_set(j->root, "divergence", list);
    CR_TRY(info_title(j, "%s against %s, in %s, %g %% intervals for kl, seed %llu",
                      cr_table_source(j->a), cr_table_source(j->b), j->unit, 100 * j->how.level,
                      (unsigned long long)j->seed));
done:
    json_decref(list);
    return st;
}

/* --- rows ------------------------------------------------------------------------------------ */

typedef struct ranked {
    double value;
    size_t at;
} ranked;

/* Most surprising first, rows without a density last; then in order. */
static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    double        p = isnan(x->value) ? -INFINITY : x->value;
    double        q = isnan(y->value) ? -INFINITY : y->value;
    if (p != q) return p > q ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static json_t *surprise_object(const info_job *j, const cr_surprise *s, size_t i,
                               const char **names)
{
    json_t *o = json_object();
    size_t  most = 0;
    json_object_set_new(o, "row", json_integer((json_int_t)s->row[i] + 1));
    json_object_set_new(o, "information", info_number(j, s->total[i]));
    if (!s->part) return o;
    for (size_t k = 1; k < s->columns; k++)
        if (s->part[i * s->columns + k] > s->part[i * s->columns + most]) most = k;
    json_object_set_new(o, "most", json_string_nocheck(names[most]));
    json_object_set_new(o, "most_information", info_number(j, s->part[i * s->columns + most]));
    return o;
}

cr_status info_surprise(info_job *j)
{
    cr_status    st = CR_OK;
    cr_surprise  s = { 0 };
    const char **names = NULL;
    size_t       n = 0, shown;
    json_t      *list = json_array();
    CR_TRY(info_columns(j, &names, &n));
    CR_TRY(cr_table_surprise(j->c->cx, j->a, names, n, j->o->joint, &j->how, j->seed, &s));
    info_tell_dropped(j, j->a, s.dropped);
    ranked *order = cr_scratch_bytes(&j->s, s.rows, sizeof *order);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < s.rows; i++) order[i] = (ranked){ s.total[i], i };
    if (j->o->top != CR_COUNT_UNSET) qsort(order, s.rows, sizeof *order, compare_ranked);
    shown = j->o->top < s.rows ? j->o->top : s.rows;
    for (size_t i = 0; i < shown; i++)
        json_array_append_new(list, surprise_object(j, &s, order[i].at, names));
    json_object_set(j->root, "surprise", list);
    json_array_extend(j->rows, list);
    CR_TRY(info_title(j, "%s: information content of %zu of %zu rows in %s, %s, seed %llu",
                      cr_table_source(j->a), shown, s.rows, j->unit,
                      j->o->joint ? "jointly" : "columns independent",
                      (unsigned long long)j->seed));
done:
    cr_surprise_free(j->c->cx, &s);
    json_decref(list);
    return st;
}

/* --- a source -------------------------------------------------------------------------------- */

static cr_status read_probabilities(info_job *j, char **items, size_t n, double **out)
{
    double *p = cr_scratch_f64(&j->s, n);
    if (j->s.status != CR_OK) return j->s.status;
    for (size_t i = 0; i < n; i++) {
        const char *end = items[i] + strlen(items[i]);
        if (cri_parse_double(items[i], end, &p[i]) != (size_t)(end - items[i])) {
            cr_fail(j->c->cx, CR_EARG, "--source: '%s' is not a number", items[i]);
            return cr_fail_hint(j->c->cx, "--source 0.1,0.9, or a file and the name of a column");
        }
    }
    *out = p;
    return CR_OK;
}

/* The shares of the values of a column. */
static cr_status count_letters(info_job *j, const char *name, double **out, size_t *out_n)
{
    cr_status      st = CR_OK;
    const unsigned role = CRI_A;
    cri_variables  vs;
    cri_cells      c;
    CR_TRY(cri_variables_read(&j->s, j->a, &name, &role, 1, j->seed, &vs));
    if (!vs.v[0].counted) {
        cr_fail(j->c->cx, CR_EDATA, "column '%s' of %s holds numbers, not letters", name,
                cr_table_source(j->a));
        CR_TRY(cr_fail_hint(j->c->cx, "--category %s counts its values", name));
    }
    if (vs.n == 0)
        CR_TRY(cr_fail(j->c->cx, CR_EDATA, "column '%s' of %s has no values", name,
                       cr_table_source(j->a)));
    info_tell_dropped(j, j->a, vs.dropped);
    CR_TRY(cri_cells_of(&j->s, &vs, CRI_A, &c));
    double *p = cr_scratch_bytes(&j->s, c.cells, sizeof *p);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < vs.n; i++) p[c.of[i]]++;
    for (size_t i = 0; i < c.cells; i++) p[i] /= (double)vs.n;
    *out = p, *out_n = c.cells;
done:
    return st;
}

static json_t *source_object(const info_job *j, const double *p, size_t n, const cr_source *s)
{
    double  N = (double)j->o->length;
    json_t *o = json_object(), *probabilities = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(probabilities, json_real(p[i]));
    json_object_set_new(o, "probabilities", probabilities);
    json_object_set_new(o, "entropy", info_number(j, s->entropy));
    json_object_set_new(o, "raw", info_number(j, s->raw));
    json_object_set_new(o, "length", json_integer((json_int_t)j->o->length));
    json_object_set_new(o, "types", json_integer((json_int_t)s->types));
    json_object_set_new(o, "beta", json_real(j->o->beta));
    json_object_set_new(o, "typical_size", info_number(j, s->log_typical));
    json_object_set_new(o, "typical_probability", json_real(s->p_typical));
    json_object_set_new(o, "delta", json_real(j->o->delta));
    json_object_set_new(o, "essential", info_number(j, s->essential));
    json_object_set_new(o, "essential_per_letter", info_number(j, s->essential / N));
    return o;
}

cr_status info_source(info_job *j)
{
    cr_status st = CR_OK;
    char    **items = NULL;
    size_t    n = 0;
    double   *p = NULL;
    cr_source s;
    CR_TRY(cri_list_split(&j->s, j->o->source, &items, &n));
    if (j->a && n != 1) {
        cr_fail(j->c->cx, CR_EARG, "--source with a file takes one column, not %zu", n);
        CR_TRY(cr_fail_hint(j->c->cx, "leave out the file to give probabilities"));
    }
    if (j->a)
        CR_TRY(count_letters(j, items[0], &p, &n));
    else
        CR_TRY(read_probabilities(j, items, n, &p));
    CR_TRY(cr_source_describe(j->c->cx, p, n, j->o->length, j->o->beta * j->per, j->o->delta, &s));
    json_t *one = source_object(j, p, n, &s), *row = json_copy(one);
    json_object_set_new(j->root, "source", one);
    json_object_del(row, "probabilities");
    json_array_append_new(j->rows, row);
    j->one = true;
    CR_TRY(info_title(j, "strings of %zu letters from a source of %zu, in %s", j->o->length, n,
                      j->unit));
done:
    return st;
}

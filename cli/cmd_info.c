/* cmd_info.c -- info: entropy, mutual information and divergence of the columns of data. */
#include "info_job.h"
#include "base/context_internal.h"
#include "base/list.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROW(...) CR_OPTION_ROW(info_options, __VA_ARGS__)
static const cr_option info_table[] = { INFO_OPTIONS(ROW) CR_OPTION_LAST };
#undef ROW

/* --- what all answers need ------------------------------------------------------------------- */

json_t *info_number(const info_job *j, double nats)
{
    return isfinite(nats) ? json_real(nats / j->per) : json_null();
}

json_t *info_cell(const info_job *j, double nats)
{
    return isinf(nats) ? json_string(nats > 0 ? "inf" : "-inf") : info_number(j, nats);
}

cr_status info_columns(info_job *j, const char ***out, size_t *out_n)
{
    cr_status    st = CR_OK;
    char       **named = NULL;
    size_t       n = 0;
    const char **names;
    CR_TRY(cri_list_split(&j->s, j->o->columns, &named, &n));
    if (n == 0) n = cr_table_columns(j->a);
    names = cr_scratch_bytes(&j->s, n, sizeof *names);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < n; i++)
        names[i] = j->o->columns ? named[i] : cr_table_column(j->a, i)->name;
    *out = names, *out_n = n;
done:
    return st;
}

/* Texts with commas between them, however long. */
static json_t *joined(const json_t *texts)
{
    size_t  i, size = 1, used = 0;
    json_t *item;
    json_array_foreach(texts, i, item) size += json_string_length(item) + 1;
    char *text = cli_allocate(size);
    json_array_foreach(texts, i, item)
    {
        if (i) text[used++] = ',';
        memcpy(text + used, json_string_value(item), json_string_length(item));
        used += json_string_length(item);
    }
    json_t *out = json_stringn_nocheck(text, used);
    free(text);
    return out;
}

json_t *info_flat(const json_t *object)
{
    json_t     *flat = json_copy((json_t *)(uintptr_t)object), *value;
    const char *key;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (json_is_array(value) && json_is_string(json_array_get(value, 0)))
            json_object_set_new(flat, key, joined(value));
    }
    json_object_foreach((json_t *)(uintptr_t)object, key,
                        value) if (json_is_array(value) && json_array_size(value) == 0)
        json_object_del(flat, key);
    return flat;
}

cr_status info_title(info_job *j, const char *format, ...)
{
    char    small[512];
    va_list args;
    va_start(args, format);
    vsnprintf(small, sizeof small, format, args);
    va_end(args);
    j->title = cr_scratch_bytes(&j->s, strlen(small) + 1, 1);
    if (j->s.status == CR_OK) memcpy(j->title, small, strlen(small) + 1);
    return j->s.status;
}

void info_tell_dropped(const info_job *j, const cr_table *t, size_t dropped)
{
    if (dropped > 0)
        cr_log(j->c->cx, CR_LOG_WARNING,
               "%zu of %zu rows of %s have missing values in these columns and are left out",
               dropped, cr_table_rows(t), cr_table_source(t));
}

static void tell_alone(const info_job *j, size_t alone, size_t rows)
{
    if (alone > 0)
        cr_log(j->c->cx, CR_LOG_WARNING,
               "%zu of %zu rows share their categories with no other row, and do not count", alone,
               rows);
}

/* --- entropy and mutual information ---------------------------------------------------------- */

/* Which estimate, from which rows; then its numbers. */
static void add_basis(json_t *to, const cr_information *g)
{
    json_object_set_new(to, "method", json_string(g->counted ? "counts" : "neighbours"));
    json_object_set_new(to, "rows", json_integer((json_int_t)g->rows));
    json_object_set_new(to, "missing", json_integer((json_int_t)g->dropped));
}

static void add_estimate(const info_job *j, json_t *to, const char *name, const cr_information *g)
{
    json_object_set_new(to, name, info_number(j, g->value));
    json_object_set_new(to, "plugin", info_number(j, g->plugin));
    json_object_set_new(to, "se", info_number(j, g->se));
    json_object_set_new(to, "lower", info_number(j, g->lower));
    json_object_set_new(to, "upper", info_number(j, g->upper));
}

static json_t *text_array(const char *const *texts, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(array, json_string_nocheck(texts[i]));
    return array;
}

/* A column that has no entropy is told of, and does not end the list. */
static cr_status list_column(info_job *j, const cr_column *col, json_t *list)
{
    cr_information g = { .rows = cr_table_rows(j->a) - col->missing,
                         .dropped = col->missing,
                         .counted = col->type == CR_CATEGORY || col->type == CR_BOOLEAN,
                         .value = NAN,
                         .plugin = NAN,
                         .se = NAN,
                         .lower = NAN,
                         .upper = NAN,
                         .resolution = NAN };
    cr_status st = cr_table_entropy(j->c->cx, j->a, &col->name, 1, NULL, 0, &j->how, j->seed, &g);
    if (st != CR_OK && st != CR_EDATA && st != CR_ENUMERIC) return st;
    if (st != CR_OK) cr_log(j->c->cx, CR_LOG_WARNING, "%s", cr_error(j->c->cx));
    json_t *row = json_object();
    json_object_set_new(row, "name", json_string_nocheck(col->name));
    json_object_set_new(row, "type", json_string(cr_type_name(col->type)));
    add_basis(row, &g);
    json_object_set_new(row, "levels", g.counted ? json_integer((json_int_t)g.cells) : json_null());
    json_object_set_new(row, "resolution",
                        isnan(g.resolution) ? json_null() : json_real(g.resolution));
    add_estimate(j, row, "entropy", &g);
    json_array_append_new(list, row);
    return CR_OK;
}

static cr_status answer_list(info_job *j)
{
    cr_status st = CR_OK;
    json_t   *list = json_array();
    size_t    n = cr_table_columns(j->a);
    for (size_t i = 0; i < n; i++) CR_TRY(list_column(j, cr_table_column(j->a, i), list));
    json_object_set(j->root, "columns", list);
    json_array_extend(j->rows, list);
    CR_TRY(info_title(j, "%s: %zu rows, entropy in %s, %g %% intervals, seed %llu",
                      cr_table_source(j->a), cr_table_rows(j->a), j->unit, 100 * j->how.level,
                      (unsigned long long)j->seed));
done:
    json_decref(list);
    return st;
}

static cr_status add_single(info_job *j, const char *key, json_t *one)
{
    json_object_set(j->root, key, one);
    json_array_append_new(j->rows, info_flat(one));
    json_decref(one);
    j->one = true;
    return CR_OK;
}

static cr_status answer_joint(info_job *j)
{
    cr_status      st = CR_OK;
    cr_information g;
    const char   **names = NULL;
    char         **given = NULL;
    size_t         n = 0, n_given = 0;
    CR_TRY(info_columns(j, &names, &n));
    CR_TRY(cri_list_split(&j->s, j->o->given, &given, &n_given));
    const char *const *known = (const char *const *)given;
    CR_TRY(cr_table_entropy(j->c->cx, j->a, names, n, known, n_given, &j->how, j->seed, &g));
    info_tell_dropped(j, j->a, g.dropped);
    tell_alone(j, g.alone, g.rows);
    json_t *one = json_object();
    json_object_set_new(one, "columns", text_array(names, n));
    json_object_set_new(one, "given", text_array(known, n_given));
    add_basis(one, &g);
    add_estimate(j, one, "entropy", &g);
    CR_TRY(info_title(j, "%s: %s entropy in %s, seed %llu", cr_table_source(j->a),
                      n_given ? "conditional" : "joint", j->unit, (unsigned long long)j->seed));
    CR_TRY(add_single(j, "joint", one));
done:
    return st;
}

static cr_status answer_mutual(info_job *j)
{
    cr_status      st = CR_OK;
    cr_information g;
    char         **names = NULL, **given = NULL;
    size_t         n = 0, n_given = 0;
    CR_TRY(cri_list_split(&j->s, j->o->mutual, &names, &n));
    CR_TRY(cri_list_split(&j->s, j->o->given, &given, &n_given));
    if (n != 2) {
        cr_fail(j->c->cx, CR_EARG, "--mutual takes two columns, not %zu", n);
        CR_TRY(cr_fail_hint(j->c->cx, "--matrix compares all pairs of more"));
    }
    const char *const *known = (const char *const *)given;
    CR_TRY(
        cr_table_mutual(j->c->cx, j->a, names[0], names[1], known, n_given, &j->how, j->seed, &g));
    info_tell_dropped(j, j->a, g.dropped);
    tell_alone(j, g.alone, g.rows);
    json_t *one = json_object();
    json_object_set_new(one, "columns", text_array((const char *const *)names, 2));
    json_object_set_new(one, "given", text_array(known, n_given));
    add_basis(one, &g);
    add_estimate(j, one, "mutual", &g);
    if (j->how.permutations > 0) json_object_set_new(one, "p", json_real(g.p));
    CR_TRY(info_title(j, "%s: mutual information in %s, seed %llu", cr_table_source(j->a), j->unit,
                      (unsigned long long)j->seed));
    CR_TRY(add_single(j, "mutual", one));
done:
    return st;
}

/* --- the verb -------------------------------------------------------------------------------- */

/* Which question it is, and what does not go together. */
static cr_status check_options(const info_job *j)
{
    const info_options *o = j->o;
    int                 asked = !!o->mutual + o->matrix + o->rows + !!o->source;
    cr_ctx             *cx = j->c->cx;
    if (asked > 1)
        return cr_fail(cx, CR_EARG,
                       "--mutual, --matrix, --rows and --source are asked one at a time");
    if (j->c->n_args == 2 && asked)
        return cr_fail(cx, CR_EARG,
                       "two files are compared: --mutual, --matrix, --rows and --source "
                       "are about one");
    if (o->given && !o->mutual && (!o->columns || o->matrix || o->rows || j->c->n_args == 2))
        return cr_fail(cx, CR_EARG, "--given goes with --columns or --mutual");
    if (o->mutual && o->columns)
        return cr_fail(cx, CR_EARG,
                       "--mutual names its columns itself: --columns does not go with it");
    if ((o->joint || o->top != CR_COUNT_UNSET) && !o->rows)
        return cr_fail(cx, CR_EARG, "--%s goes with --rows", o->joint ? "joint" : "top");
    if (o->permutations > 0 && !o->mutual && !o->matrix && !o->mmd)
        return cr_fail(cx, CR_EARG, "--permutations goes with --mutual, --matrix or --mmd");
    if (o->mmd && j->c->n_args != 2) {
        cr_fail(cx, CR_EARG, "--mmd compares two files");
        return cr_fail_hint(cx, "credence info first.csv second.csv --mmd");
    }
    if ((o->kernel || o->linear) && !o->mmd)
        return cr_fail(cx, CR_EARG, "--%s goes with --mmd", o->kernel ? "kernel" : "linear");
    if (o->mmd && o->smoothing > 0)
        return cr_fail(cx, CR_EARG, "--smoothing does not go with --mmd");
    if (o->smoothing > 0 && j->c->n_args != 2)
        return cr_fail(cx, CR_EARG, "--smoothing goes with two files");
    if (j->c->n_args == 0 && !o->source) {
        cr_fail(cx, CR_EARG, "info: the argument DATA is missing");
        return cr_fail_hint(cx, "usage: credence %s", j->c->verb->usage);
    }
    return CR_OK;
}

static cr_status answer(info_job *j)
{
    if (j->b) return j->o->mmd ? info_mmd(j) : info_divergence(j);
    if (j->o->source) return info_source(j);
    if (j->o->mutual) return answer_mutual(j);
    if (j->o->matrix) return info_matrix(j);
    if (j->o->rows) return info_surprise(j);
    return j->o->columns ? answer_joint(j) : answer_list(j);
}

static void add_settings(info_job *j)
{
    const cr_option *estimator = cr_option_find(info_table, "estimator");
    char             text[64];
    cr_options_print(estimator, j->o, text, sizeof text);
    json_object_set_new(j->root, "unit", json_string(j->unit));
    json_object_set_new(j->root, "seed", json_integer((json_int_t)j->seed));
    if (j->a) json_object_set_new(j->root, "rows", json_integer((json_int_t)cr_table_rows(j->a)));
    json_object_set_new(j->root, "estimator", json_string(text));
    json_object_set_new(j->root, "neighbours", json_integer((json_int_t)j->how.neighbours));
    json_object_set_new(j->root, "level", json_real(j->how.level));
}

static cr_status print_answer(info_job *j)
{
    cr_status st = CR_OK;
    CR_TRY(out_open(j->c, j->c->global.output));
    if (j->c->format == FORMAT_JSON) {
        out_json(j->c, "info", j->root);
        goto done;
    }
    if (j->c->format == FORMAT_TEXT && j->title) out_text(j->c, "%s\n\n", j->title);
    if (j->c->format == FORMAT_TEXT && j->one)
        out_pairs(j->c, json_array_get(j->rows, 0));
    else
        out_table(j->c, j->rows);
done:
    return st;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static cr_status run_info(cli *c)
{
    cr_status st = CR_OK;
    info_job  j = { .c = c, .o = c->own, .root = json_object(), .rows = json_array() };
#define COPY(kind, field, fallback, range, help, example) .field = j.o->field,
    j.how = (cr_info_options){ CR_INFO_OPTIONS(COPY) };
#undef COPY
    j.s = cr_scratch_begin(c->cx);
    j.per = j.o->unit == 0 ? M_LN2 : 1;
    j.unit = j.o->unit == 0 ? "bits" : "nats";
    CR_TRY(check_options(&j));
    j.seed = c->fit.seed;
    if (c->n_args > 0) CR_TRY(cli_read_data(c, 0, NULL, &j.a));
    if (c->n_args > 1) CR_TRY(cli_read_data(c, 1, NULL, &j.b));
    add_settings(&j);
    double begin = now();
    CR_TRY(answer(&j));
    json_object_set_new(j.root, "seconds", json_real(now() - begin));
    cli_clear_progress(c);
    CR_TRY(cli_check_strict(c));
    if (!j.printed) CR_TRY(print_answer(&j));
done:
    cr_table_free(c->cx, j.a);
    cr_table_free(c->cx, j.b);
    cr_scratch_end(&j.s);
    json_decref(j.root);
    json_decref(j.rows);
    return st;
}

const cli_verb verb_info = {
    .name = "info",
    .usage = "info [DATA [DATA]] [OPTIONS]",
    .summary = "entropy, mutual information, divergence, two-sample test, surprise",
    .example = "credence info examples/diabetes.csv\n"
               "credence info examples/diabetes.csv --mutual bmi,progression --permutations 199\n"
               "credence info examples/diabetes.csv --matrix --columns sex,bmi,s5,progression\n"
               "credence info examples/diabetes.csv --rows --top 5\n"
               "credence info --source 0.1,0.9 --length 100 --delta 0.01",
    .options = info_table,
    .options_size = sizeof(info_options),
    .result = result_info,
    .takes = VERB_READS,
    .most = 2,
    .run = run_info,
};

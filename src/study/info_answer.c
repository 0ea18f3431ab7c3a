/* info_answer.c -- questions about the information in tables: entropy and mutual information, and who answers what. */
#include "info_answer.h"
#include "base/list.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

CR_OPTIONS_TABLE(, cr_info_question_table, cr_info_question, CR_INFO_QUESTIONS);

/* --- what all answers need -------------------------------------------------------------------- */

void cri_info_title(cri_info_answer *j, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(j->title, sizeof j->title, format, args);
    va_end(args);
}

void cri_info_put(const cri_info_answer *j, cri_sheet *to, const char *name, double nats)
{
    cri_put_real(to, name, nats / j->per);
}

void cri_info_put_cell(const cri_info_answer *j, cri_sheet *to, const char *name, double nats)
{
    if (isinf(nats))
        cri_put_text(to, name, nats > 0 ? "inf" : "-inf");
    else
        cri_put_real(to, name, nats / j->per);
}

cri_sheet *cri_info_put_texts(cri_sheet *to, const char *name, const char *const *texts, size_t n)
{
    cri_sheet *list = cri_put_list(to, name);
    for (size_t i = 0; i < n; i++) cri_put_text(list, NULL, texts[i]);
    return list;
}

void cri_info_put_row(cri_info_answer *j, const cri_sheet *object)
{
    cri_sheet *row = cri_put_object(j->rows, NULL);
    for (const cri_sheet *v = cri_sheet_first(object); v; v = cri_sheet_next(v))
        if (cri_sheet_kind_of(v) != CRI_SHEET_LIST)
            cri_put_copy(row, cri_sheet_name(v), v);
        else if (cri_sheet_text(cri_sheet_first(v)))
            cri_put_joined(row, cri_sheet_name(v), v, ",");
    j->lines = true;
}

cr_status cri_info_columns(cri_info_answer *j, const char ***out, size_t *out_n)
{
    cr_status    st = CR_OK;
    char       **named = NULL;
    size_t       n = 0;
    const char **names;
    CR_TRY(cri_list_split(&j->s, j->o->columns, &named, &n));
    bool all = n == 0;
    if (all) n = cr_table_columns(j->a);
    names = cr_scratch_bytes(&j->s, n, sizeof *names);
    CR_TRY(j->s.status);
    for (size_t i = 0; i < n; i++) {
        const cr_column *c = all ? cr_table_column(j->a, i) : NULL;
        if (all && !c) CR_TRY(CR_ENOMEM);
        names[i] = all ? c->name : named[i];
    }
    *out = names, *out_n = n;
done:
    return st;
}

void cri_info_warn_dropped(const cri_info_answer *j, const cr_table *t, size_t dropped)
{
    if (dropped > 0)
        cr_log(j->cx, CR_LOG_WARNING,
               "%zu of %zu rows of %s have missing values in these columns and are left out",
               dropped, cr_table_rows(t), cr_table_source(t));
}

static void warn_alone(const cri_info_answer *j, size_t alone, size_t rows)
{
    if (alone > 0)
        cr_log(j->cx, CR_LOG_WARNING,
               "%zu of %zu rows share their categories with no other row and are not counted",
               alone, rows);
}

/* Few rows have not shown what there is: 95 % intervals hold 85 to 92 % there (docs/information.md). */
static void warn_few(const cri_info_answer *j, const cr_information *g)
{
    enum { ROWS_OF_CELL = 3, ROWS_OF_NEIGHBOURS = 30 };
    if (isnan(g->lower)) return; /* there is none */
    if (g->counted && g->cells > 2 && g->rows < ROWS_OF_CELL * g->cells)
        cr_log(j->cx, CR_LOG_WARNING,
               "%zu rows in %zu cells are few for an interval: it may be too narrow, as others may "
               "never have been seen",
               g->rows, g->cells);
    else if (!g->counted && g->rows < ROWS_OF_NEIGHBOURS)
        cr_log(j->cx, CR_LOG_WARNING,
               "%zu rows are few for an interval by neighbours: it may be too narrow", g->rows);
}

/* --- entropy and mutual information ---------------------------------------------------------- */

/* Which estimate, from which rows; then its numbers. */
static void put_basis(cri_sheet *to, const cr_information *g)
{
    cri_put_text(to, "method", g->counted ? "counts" : "neighbours");
    cri_put_count(to, "rows", g->rows);
    cri_put_count(to, "missing", g->dropped);
}

static void put_estimate(const cri_info_answer *j, cri_sheet *to, const char *name,
                         const cr_information *g)
{
    cri_info_put(j, to, name, g->value);
    cri_info_put(j, to, "plugin", g->plugin);
    cri_info_put(j, to, "se", g->se);
    cri_info_put(j, to, "lower", g->lower);
    cri_info_put(j, to, "upper", g->upper);
}

/* A column that has no entropy is told of, and does not end the list. */
static cr_status list_column(cri_info_answer *j, const cr_column *col, cri_sheet *list)
{
    cr_information g = { .rows = cr_table_rows(j->a) - col->missing,
                         .dropped = col->missing,
                         .counted = col->type == CR_CATEGORY || col->type == CR_BOOLEAN,
                         .value = NAN,
                         .plugin = NAN,
                         .se = NAN,
                         .lower = NAN,
                         .upper = NAN,
                         .most = INFINITY,
                         .resolution = NAN };
    cr_status      st = cr_table_entropy(j->cx, j->a, &col->name, 1, NULL, 0, &j->how, j->seed, &g);
    if (st != CR_OK && st != CR_EDATA && st != CR_ENUMERIC) return st;
    if (st != CR_OK) cr_log(j->cx, CR_LOG_WARNING, "%s", cr_error(j->cx));
    if (g.counted && g.value > g.most) g.value = g.most;
    cri_sheet *row = cri_put_object(list, NULL);
    cri_put_text(row, "name", col->name);
    cri_put_text(row, "type", cr_type_name(col->type));
    put_basis(row, &g);
    if (g.counted)
        cri_put_count(row, "levels", g.cells);
    else
        cri_put_null(row, "levels");
    cri_put_real(row, "resolution", g.resolution);
    put_estimate(j, row, "entropy", &g);
    return CR_OK;
}

static cr_status answer_list(cri_info_answer *j)
{
    cr_status st = CR_OK;
    size_t    n = cr_table_columns(j->a);
    j->rows = cri_put_list(j->object, "columns"); /* the table is this list */
    for (size_t i = 0; i < n; i++) CR_TRY(list_column(j, cr_table_column(j->a, i), j->rows));
    cri_info_title(j, "%s: %zu rows, entropy in %s, %g %% intervals, seed %llu",
                   cr_table_source(j->a), cr_table_rows(j->a), j->unit, 100 * j->how.level,
                   (unsigned long long)j->seed);
done:
    return st;
}

static cr_status answer_joint(cri_info_answer *j)
{
    cr_status      st = CR_OK;
    cr_information g;
    const char   **names = NULL;
    char         **given = NULL;
    size_t         n = 0, n_given = 0;
    cri_sheet     *one;
    CR_TRY(cri_info_columns(j, &names, &n));
    CR_TRY(cri_list_split(&j->s, j->o->given, &given, &n_given));
    const char *const *known = (const char *const *)given;
    CR_TRY(cr_table_entropy(j->cx, j->a, names, n, known, n_given, &j->how, j->seed, &g));
    cri_info_warn_dropped(j, j->a, g.dropped);
    warn_alone(j, g.alone, g.rows);
    warn_few(j, &g);
    one = cri_put_object(j->object, "joint");
    cri_info_put_texts(one, "columns", names, n);
    cri_info_put_texts(one, "given", known, n_given);
    put_basis(one, &g);
    put_estimate(j, one, "entropy", &g);
    cri_info_put_row(j, one);
    cri_info_title(j, "%s: %s entropy in %s, seed %llu", cr_table_source(j->a),
                   n_given ? "conditional" : "joint", j->unit, (unsigned long long)j->seed);
done:
    return st;
}

static cr_status answer_mutual(cri_info_answer *j)
{
    cr_status      st = CR_OK;
    cr_information g;
    char         **names = NULL, **given = NULL;
    size_t         n = 0, n_given = 0;
    cri_sheet     *one;
    CR_TRY(cri_list_split(&j->s, j->o->mutual, &names, &n));
    CR_TRY(cri_list_split(&j->s, j->o->given, &given, &n_given));
    if (n != 2) {
        cr_fail(j->cx, CR_EARG, "--mutual takes two columns, not %zu", n);
        CR_TRY(cr_fail_hint(j->cx, "--matrix compares all pairs of more"));
    }
    const char *const *known = (const char *const *)given;
    CR_TRY(cr_table_mutual(j->cx, j->a, names[0], names[1], known, n_given, &j->how, j->seed, &g));
    cri_info_warn_dropped(j, j->a, g.dropped);
    warn_alone(j, g.alone, g.rows);
    warn_few(j, &g);
    one = cri_put_object(j->object, "mutual");
    cri_info_put_texts(one, "columns", (const char *const *)names, 2);
    cri_info_put_texts(one, "given", known, n_given);
    put_basis(one, &g);
    put_estimate(j, one, "mutual", &g);
    if (j->how.permutations > 0) cri_put_real(one, "p", g.p);
    cri_info_put_row(j, one);
    cri_info_title(j, "%s: mutual information in %s, seed %llu", cr_table_source(j->a), j->unit,
                   (unsigned long long)j->seed);
done:
    return st;
}

/* --- which question it is --------------------------------------------------------------------- */

cr_status cri_info_check(cr_ctx *cx, const cr_info_question *o, size_t tables)
{
    int asked = !!o->mutual + o->matrix + !!o->blanket + o->rows + !!o->source;
    if (asked > 1)
        return cr_fail(cx, CR_EARG,
                       "--mutual, --matrix, --blanket, --rows and --source cannot be combined");
    if (tables == 2 && asked)
        return cr_fail(cx, CR_EARG,
                       "two files are compared, but --mutual, --matrix, --blanket, --rows and "
                       "--source need a single file");
    if (o->given && !o->mutual &&
        (!o->columns || o->matrix || o->blanket || o->rows || tables == 2))
        return cr_fail(cx, CR_EARG, "--given requires --columns or --mutual");
    if (o->mutual && o->columns)
        return cr_fail(cx, CR_EARG,
                       "--mutual already names its columns: it cannot be combined with --columns");
    if (o->weights && (o->rows || tables == 0))
        return cr_fail(cx, CR_EARG,
                       o->rows ? "--weights cannot be combined with --rows"
                               : "--weights requires data");
    if (o->joint && !o->rows) return cr_fail(cx, CR_EARG, "--joint requires --rows");
    if (o->top != CR_COUNT_UNSET && !o->rows && !o->blanket)
        return cr_fail(cx, CR_EARG, "--top requires --rows or --blanket");
    if (o->permutations > 0 && !o->mutual && !o->matrix && !o->mmd)
        return cr_fail(cx, CR_EARG, "--permutations requires --mutual, --matrix or --mmd");
    if (o->mmd && tables != 2) {
        cr_fail(cx, CR_EARG, "--mmd compares two files");
        return cr_fail_hint(cx, "credence info first.csv second.csv --mmd");
    }
    if ((o->kernel || o->linear) && !o->mmd)
        return cr_fail(cx, CR_EARG, "--%s requires --mmd", o->kernel ? "kernel" : "linear");
    if (o->mmd && o->smoothing > 0)
        return cr_fail(cx, CR_EARG, "--smoothing cannot be combined with --mmd");
    if (o->smoothing > 0 && tables != 2)
        return cr_fail(cx, CR_EARG, "--smoothing requires two files");
    return CR_OK;
}

static cr_status answer(cri_info_answer *j)
{
    if (j->b) return j->o->mmd ? cri_info_mmd(j) : cri_info_divergence(j);
    if (j->o->source) return cri_info_source(j);
    if (j->o->mutual) return answer_mutual(j);
    if (j->o->matrix) return cri_info_matrix(j);
    if (j->o->blanket) return cri_info_blanket(j);
    if (j->o->rows) return cri_info_surprise(j);
    return j->o->columns ? answer_joint(j) : answer_list(j);
}

static void put_settings(cri_info_answer *j)
{
    const cr_option *estimator = cr_option_find(cr_info_question_table, "estimator");
    char             text[64];
    cr_options_print(estimator, j->o, text, sizeof text);
    cri_put_text(j->object, "unit", j->unit);
    cri_put_count(j->object, "seed", j->seed);
    if (j->a) cri_put_count(j->object, "rows", cr_table_rows(j->a));
    cri_put_text(j->object, "estimator", text);
    cri_put_count(j->object, "neighbours", j->how.neighbours);
    cri_put_real(j->object, "level", j->how.level);
}

cri_info_answer cri_info_open(cr_ctx *cx, const cr_info_question *o, uint64_t seed,
                              const cr_table *opt_a, const cr_table *opt_b, cri_sheet *object,
                              cri_sheet *rows)
{
    cri_info_answer j = { .cx = cx, .o = o, .seed = seed, .a = opt_a, .b = opt_b };
#define COPY(kind, field, fallback, range, help, example) .field = o->field,
    j.how = (cr_info_options){ CR_INFO_OPTIONS(COPY) };
#undef COPY
    j.s = cr_scratch_begin(cx);
    j.per = o->unit == 0 ? M_LN2 : 1;
    j.unit = o->unit == 0 ? "bits" : "nats";
    j.object = object;
    j.rows = rows;
    return j;
}

cr_status cri_info_run(cri_info_answer *j)
{
    cr_status       st = CR_OK;
    const cr_table *given[] = { j->a, j->b };
    cr_table       *repeated[] = { NULL, NULL };
    const char     *weights = j->o->weights;
    if (weights && j->a) CR_TRY(cri_info_repeat(j->cx, j->a, weights, &repeated[0]));
    if (weights && j->b) CR_TRY(cri_info_repeat(j->cx, j->b, weights, &repeated[1]));
    if (repeated[0]) j->a = repeated[0];
    if (repeated[1]) j->b = repeated[1];
    put_settings(j);
    st = answer(j);
done:
    j->a = given[0], j->b = given[1];
    cr_table_free(j->cx, repeated[0]);
    cr_table_free(j->cx, repeated[1]);
    return st;
}

cr_status cr_info_report(cr_ctx *cx, const cr_table *opt_a, const cr_table *opt_b,
                         const cr_info_question *question, uint64_t seed, char **out_json)
{
    cr_status       st = CR_OK;
    cri_sheet      *sheet = cri_sheet_new(cx), *object = cri_put_object(sheet, "object");
    cri_info_answer j =
        cri_info_open(cx, question, seed, opt_a, opt_b, object, cri_put_list(sheet, "rows"));
    CR_TRY(cri_info_check(cx, question, opt_b ? 2 : opt_a ? 1 : 0));
    if (!opt_a && !question->source)
        CR_TRY(cr_fail(cx, CR_EARG, "info needs data, or the probabilities of a source"));
    CR_TRY(cri_info_run(&j));
    CR_TRY(cri_sheet_status(sheet));
    CR_TRY(cri_sheet_to_json(cx, object, out_json));
done:
    cr_scratch_end(&j.s);
    cri_sheet_free(sheet);
    return st;
}

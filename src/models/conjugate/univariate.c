/* univariate.c -- settings, statistics, posterior and file of conjugate models of single columns. */
#include "univariate.h"
#include "base/context_internal.h"
#include "base/number.h"
#include "base/parallel.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256, MOST_SPANS = 64, MOST_STATS = 8 };

CRI_RECORD_TABLE(, cri_conjugate_record, cri_conjugate, CRI_CONJUGATE_STATE);
CRI_RECORD_TABLE(, cri_conjugate_sums_record, cri_conjugate, CRI_CONJUGATE_SUMS);

static void free_state(cr_ctx *cx, cri_conjugate *m)
{
    if (m) cri_record_free(cx, cri_conjugate_record, m);
    cr_free(cx, m, 1, sizeof *m);
}

/* Room for what the family makes of each column. */
static cr_status add_made(cr_ctx *cx, const cri_conjugate_family *f, cri_conjugate *m)
{
    m->family = f;
    m->n_work = f->n_work;
    return cri_record_allocate(cx, cri_conjugate_record, m);
}

static cr_status new_state(cr_ctx *cx, const cri_conjugate_family *f, size_t n, cri_conjugate **out)
{
    cr_status      st = CR_OK;
    cri_conjugate *m = cr_alloc(cx, 1, sizeof *m);
    if (!m) return CR_ENOMEM;
    m->n = n, m->n_params = f->n_params, m->n_stats = f->n_stats;
    CR_TRY(add_made(cx, f, m));
    *out = m;
    m = NULL;
done:
    free_state(cx, m);
    return st;
}

/* --- what the columns must be ---------------------------------------------------------------- */

cr_status cri_conjugate_check(cr_ctx *cx, const char *model, const cr_design *d)
{
    if (d->target.name) {
        cr_fail(cx, CR_EARG, "the model %s describes columns: it has no target", model);
        return cr_fail_hint(cx,
                            "name the columns with --features %s; glm predicts a target, with "
                            "--family poisson if it has counts",
                            d->target.name);
    }
    if (d->standardised)
        return cr_fail(cx, CR_EARG,
                       "the model %s describes columns as they are: it cannot be combined with "
                       "--scale standard",
                       model);
    if (cri_design_has_made(d))
        return cr_fail(cx, CR_EARG,
                       "the model %s describes columns as they are: --terms can only name columns",
                       model);
    bool expanded = d->p != d->n_columns;
    for (size_t i = 0; i < d->n_columns; i++) expanded |= cri_design_has_basis(d, i);
    if (expanded)
        return cr_fail(
            cx, CR_EARG,
            "the model %s describes columns as they are: it cannot be combined with --basis",
            model);
    if (d->p == 0) return cr_fail(cx, CR_EDATA, "there is no column for %s to describe", model);
    return CR_OK;
}

cr_status cri_conjugate_need_numbers(cr_ctx *cx, const char *model, const cr_design *d)
{
    for (size_t j = 0; j < d->n_columns; j++) {
        if (d->columns[j].type != CR_CATEGORY) continue;
        cr_fail(cx, CR_EDATA, "column '%s' contains text, but %s describes numbers",
                d->columns[j].name, model);
        return cr_fail_hint(cx, "--features '!%s' leaves it out", d->columns[j].name);
    }
    return CR_OK;
}

static const char *level_name(const void *column, size_t k)
{
    return ((const cri_design_column *)column)->levels[k];
}

/* 1 or 0, as a number or a word; NaN for anything else. */
static double read_binary(const char *text)
{
    double x;
    size_t length = strlen(text);
    if (strcmp(text, "true") == 0) return 1;
    if (strcmp(text, "false") == 0) return 0;
    bool number = length > 0 && cri_parse_double(text, text + length, &x) == length;
    return number && (x == 0 || x == 1) ? x : NAN;
}

/* T of ">T"; NaN for anything else. */
static double read_above(const char *text)
{
    double x;
    size_t length = strlen(text);
    bool   number =
        text[0] == '>' && length > 1 && cri_parse_double(text + 1, text + length, &x) == length - 1;
    return number && isfinite(x) ? x : NAN;
}

static cr_status choose_number(cr_ctx *cx, const cri_design_column *c, const char *opt_success,
                               double *value, double *above)
{
    if (!opt_success) return CR_OK;
    *above = c->type != CR_BOOLEAN ? read_above(opt_success) : NAN;
    if (!isnan(*above)) return CR_OK;
    *value = read_binary(opt_success);
    if (!isnan(*value)) return CR_OK;
    cr_fail(cx, CR_EARG, "--success is '%s', but column '%s' contains numbers", opt_success,
            c->name);
    return cr_fail_hint(cx, "--success 1, --success 0, or, with a number, --success '>0'");
}

/* Which value of a binary column counts as success: that of --success, else 1, true, or the second
 * of two levels; or, of numbers, which values: those above T. */
static cr_status choose_success(cr_ctx *cx, const cri_design_column *c, const char *opt_success,
                                double *out, double *above)
{
    size_t k = 0;
    *out = 1, *above = NAN;
    if (c->type != CR_CATEGORY) return choose_number(cx, c, opt_success, out, above);
    if (!opt_success && c->n_levels == 2) return CR_OK;
    if (!opt_success) {
        cr_fail(cx, CR_EDATA, "column '%s' has %zu level%s: which one is a success?", c->name,
                c->n_levels, c->n_levels == 1 ? "" : "s");
        return cr_fail_hint(cx, "--success LEVEL counts one level against all others");
    }
    while (k < c->n_levels && strcmp(c->levels[k], opt_success) != 0) k++;
    *out = (double)k;
    if (k < c->n_levels) return CR_OK;
    cr_fail(cx, CR_EARG, "--success: column '%s' has no level '%s'", c->name, opt_success);
    return cr_fail_nearest(cx, opt_success, "levels", c->n_levels, level_name, c);
}

static cr_status check_columns(cr_ctx *cx, const cri_conjugate_family *f, const cr_design *d,
                               const char *opt_success, cri_conjugate *m)
{
    cr_status st = CR_OK;
    if (!f->binary) CR_TRY(cri_conjugate_need_numbers(cx, f->model, d));
    for (size_t j = 0; j < m->n; j++) {
        m->success[j] = 1, m->above[j] = NAN;
        if (f->binary)
            CR_TRY(choose_success(cx, &d->columns[j], opt_success, &m->success[j], &m->above[j]));
    }
done:
    return st;
}

/* --- sufficient statistics ------------------------------------------------------------------- */

/* 1 or 0 where the column is binary, else the value; *fits: the family can have it. */
static double recode(const cri_conjugate *m, const cr_design *d, size_t j, double value, bool *fits)
{
    *fits = cri_design_is_code(d, j) || !isnan(m->above[j]) || m->family->valid(m->prior, value);
    return m->family->binary ? cri_conjugate_success(m, j, value) : value;
}

/* The first row of weight whose value of column j is so; rows->n where none is. */
static size_t find_value(const cri_rows *rows, size_t j, bool (*is_so)(const void *of, double x),
                         const void *of)
{
    double x[BLOCK];
    for (size_t b = 0; b < cri_block_count(rows->n, BLOCK); b++) {
        cri_range r = cri_block_range(rows->n, BLOCK, b);
        cri_rows_fill_term(rows, j, r.begin, r.end, x, 1);
        for (size_t i = r.begin; i < r.end; i++)
            if ((!rows->w || rows->w[i] > 0) && is_so(of, x[i - r.begin])) return i;
    }
    return rows->n;
}

static bool is_invalid(const void *state, double x)
{
    const cri_conjugate *m = state;
    return !m->family->valid(m->prior, x);
}

/* Numbers of a yes-or-no column that are more than 0 and 1: what is above 0 counts, which changes nothing of rows
 * with 0 and 1 that came before, and that is said, whatever other blocks come. */
static void choose_thresholds(cr_ctx *cx, const cri_rows *rows, cri_conjugate *m)
{
    cri_pause_holding(cx, true);
    for (size_t j = 0; j < m->n; j++) {
        const cri_design_column *c = &rows->design->columns[j];
        if (c->type == CR_CATEGORY || c->type == CR_BOOLEAN || !isnan(m->above[j])) continue;
        if (find_value(rows, j, is_invalid, m) == rows->n) continue;
        m->above[j] = 0;
        cr_log(cx, CR_LOG_WARNING,
               "column '%s' contains numbers other than 0 and 1: those above 0 count as successes; "
               "use --success '>T' to count those above T",
               c->name);
    }
    cri_pause_holding(cx, false);
}

static bool is_strange(const void *state, double x)
{
    return ((const cri_conjugate *)state)->family->strange(x);
}

/* One warning, of the first strange value of positive weight. */
void cri_conjugate_meet(cr_ctx *cx, void *state, const cri_rows *rows, const char *opt_success)
{
    cri_conjugate *m = state;
    if (m->family->binary && !opt_success) choose_thresholds(cx, rows, m);
    for (size_t j = 0; m->family->strange && j < rows->p; j++) {
        size_t i = find_value(rows, j, is_strange, m);
        double x;
        if (i == rows->n) continue;
        cri_rows_fill_term(rows, j, i, i + 1, &x, 1);
        cr_log(cx, CR_LOG_WARNING, "column '%s' contains %g, but %s describes %s: %s",
               rows->design->columns[j].name, x, m->family->model, m->family->needs,
               m->family->advice);
        return;
    }
}

static void merge_column(const cri_conjugate_family *f, double *stats, const double *more)
{
    if (!(more[0] > 0)) return; /* no row counts */
    if (!(stats[0] > 0))
        memcpy(stats, more, f->n_stats * sizeof *stats);
    else if (f->merge)
        f->merge(stats, more);
    else
        for (size_t k = 0; k < f->n_stats; k++) stats[k] += more[k];
}

cr_status cri_conjugate_merge(cr_ctx *cx, const void *state, void *a, const void *b)
{
    const cri_conjugate *m = state, *from = b;
    cri_conjugate       *to = a;
    (void)cx;
    for (size_t j = 0; j < m->n; j++)
        merge_column(m->family, to->stats + j * m->n_stats, from->stats + j * m->n_stats);
    return CR_OK;
}

typedef struct measuring {
    const cri_conjugate *m;
    const cri_rows      *rows;
    size_t               spans;
    double              *stats; /* [spans x n x n_stats]                              */
    size_t              *bad;   /* [spans x n] the first row that does not fit, or n  */
} measuring;

/* The values of positive weight of a block, moved together; their number.  *bad gets the first row
 * whose value the family cannot have. */
static size_t take_block(const measuring *a, size_t j, size_t begin, size_t end, double *x,
                         double *w, size_t *bad)
{
    const cri_rows *rows = a->rows;
    size_t          n = 0;
    bool            fits;
    cri_rows_fill_term(rows, j, begin, end, x, 1);
    for (size_t i = begin; i < end; i++) {
        w[n] = rows->w ? rows->w[i] : 1;
        if (w[n] == 0) continue;
        x[n++] = recode(a->m, rows->design, j, x[i - begin], &fits);
        if (!fits && *bad == rows->n) *bad = i;
    }
    return n;
}

static void measure_span(void *arg, size_t s)
{
    const measuring            *a = arg;
    const cri_conjugate_family *f = a->m->family;
    size_t blocks = cri_block_count(a->rows->n, BLOCK), each = cri_block_count(blocks, a->spans);
    double x[BLOCK], w[BLOCK], part[MOST_STATS];
    for (size_t j = 0; j < a->m->n; j++) {
        double *stats = a->stats + (s * a->m->n + j) * f->n_stats;
        size_t *bad = &a->bad[s * a->m->n + j];
        *bad = a->rows->n;
        for (size_t b = s * each; b < blocks && b < (s + 1) * each; b++) {
            cri_range r = cri_block_range(a->rows->n, BLOCK, b);
            size_t    n = take_block(a, j, r.begin, r.end, x, w, bad);
            if (n == 0) continue;
            f->measure(x, w, n, part);
            merge_column(f, stats, part);
        }
    }
}

static cr_status refuse_value(cr_ctx *cx, const cri_rows *rows, const cri_conjugate_family *f,
                              size_t j, size_t i)
{
    char   where[512];
    double x;
    cri_rows_fill_term(rows, j, i, i + 1, &x, 1);
    return cr_fail(
        cx, CR_EDATA, "%s: column '%s' is %g, but %s needs %s",
        cri_table_where(rows->table, rows->index ? rows->index[i] : i, where, sizeof where),
        rows->design->columns[j].name, x, f->model, f->needs);
}

/* In spans, which are merged in their order. */
cr_status cri_conjugate_gather(cr_ctx *cx, const void *state, const cri_rows *rows,
                               const void *options, void *sums)
{
    cr_status            st = CR_OK;
    cr_scratch           s = cr_scratch_begin(cx);
    const cri_conjugate *m = state;
    cri_conjugate       *out = sums;
    size_t               blocks = cri_block_count(rows->n, BLOCK), S = m->n_stats;
    size_t               spans = blocks < MOST_SPANS ? blocks : MOST_SPANS;
    measuring            a = { m, rows, spans, NULL, NULL };
    (void)options;

    a.stats = cr_scratch_bytes(&s, spans * m->n * S, sizeof(double));
    a.bad = cr_scratch_index(&s, spans * m->n);
    CR_TRY(s.status);
    out->n = m->n, out->n_stats = S;
    CR_TRY(cri_record_allocate(cx, cri_conjugate_sums_record, out));
    CR_TRY(cri_parallel_for(cx, "counting", spans, measure_span, &a));
    for (size_t k = 0; k < spans; k++)
        for (size_t j = 0; j < m->n; j++) {
            size_t bad = a.bad[k * m->n + j];
            if (bad < rows->n) CR_TRY(refuse_value(cx, rows, m->family, j, bad));
            merge_column(m->family, out->stats + j * S, a.stats + (k * m->n + j) * S);
        }
    for (size_t i = 0; i < m->n * S; i++)
        if (!isfinite(out->stats[i]))
            CR_TRY(cr_fail(cx, CR_ENUMERIC, "column '%s' is so large that its sums overflow",
                           rows->design->columns[i / S].name));
done:
    cr_scratch_end(&s);
    return st;
}

/* --- posterior ------------------------------------------------------------------------------- */

/* Posterior and evidence of every column from prior and statistics. */
static cr_status solve(cr_ctx *cx, const cr_design *d, cri_conjugate *m)
{
    cr_status                   st = CR_OK;
    const cri_conjugate_family *f = m->family;
    bool                        proper = f->proper(m->prior);
    for (size_t j = 0; j < m->n; j++) {
        const double *stats = m->stats + j * m->n_stats;
        double       *params = m->params + j * m->n_params, *work = m->work + j * m->n_work;
        f->posterior(m->prior, stats, params);
        if (!f->proper(params)) {
            cr_fail(cx, CR_EDATA, "column '%s' makes the posterior improper: %s",
                    d->columns[j].name, f->improper);
            CR_TRY(cr_fail_hint(cx,
                                "give a proper prior, or more rows; credence models %s lists "
                                "the priors",
                                f->model));
        }
        if (f->prepare) CR_TRY(f->prepare(cx, params, work));
        m->log_evidence[j] = proper ? f->log_evidence(m->prior, stats, params, work) : NAN;
    }
done:
    return st;
}

cr_status cri_conjugate_solve(cr_ctx *cx, const cr_design *design, const void *options, void *state,
                              cr_report *report)
{
    const cri_conjugate *m = state;
    cr_status            st = solve(cx, design, state);
    (void)options;
    report->stop = CR_STOP_CLOSED_FORM;
    report->evidence = CR_EVIDENCE_EXACT;
    report->log_evidence = 0;
    for (size_t j = 0; j < m->n; j++) report->log_evidence += m->log_evidence[j];
    return st;
}

cr_status cri_conjugate_open(cr_ctx *cx, const cri_conjugate_family *f, const cri_rows *rows,
                             const cri_conjugate_request *request, void **out_state)
{
    cr_status      st = CR_OK;
    cr_scratch     s = cr_scratch_begin(cx);
    cri_conjugate *m = NULL;
    cri_prior      prior;

    CR_TRY(cri_conjugate_check(cx, f->model, rows->design));
    CR_TRY(new_state(cx, f, rows->p, &m));
    m->level = request->level;
    CR_TRY(check_columns(cx, f, rows->design, request->opt_success, m));
    CR_TRY(cri_prior_read(cx, &s, f->model, request->prior, &prior));
    CR_TRY(f->prior(cx, &prior, request->options, m->prior));
    *out_state = m;
    m = NULL;
done:
    free_state(cx, m);
    cr_scratch_end(&s);
    return st;
}

/* --- file ------------------------------------------------------------------------------------ */

/* Statistics are such as rows give. */
static bool are_sound(const cri_conjugate *m, const double *stats)
{
    for (size_t j = 0; j < m->n; j++, stats += m->n_stats)
        if (!(stats[0] >= 0) || !m->family->sound(m->prior, stats)) return false;
    return true;
}

bool cri_conjugate_fits(const void *state, void *sums)
{
    const cri_conjugate *m = state, *s = sums;
    return s->n == m->n && s->n_stats == m->n_stats && are_sound(m, s->stats);
}

static bool is_sound(const cri_conjugate *m)
{
    for (size_t j = 0; j < m->n; j++)
        if (isnan(m->success[j])) return false;
    return are_sound(m, m->stats);
}

cr_status cri_conjugate_ready(cr_ctx *cx, const cri_conjugate_family *f, cri_conjugate *m,
                              const cr_design *design)
{
    cr_status st = CR_OK;
    if (m->n != design->p || m->n != design->n_columns || m->n_params != f->n_params ||
        m->n_stats != f->n_stats)
        return CR_EDATA;
    CR_TRY(add_made(cx, f, m));
    st = is_sound(m) ? solve(cx, design, m) : CR_EDATA;
done:
    return st == CR_ENUMERIC ? CR_EDATA : st;
}

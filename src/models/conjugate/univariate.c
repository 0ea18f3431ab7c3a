/* univariate.c -- fit, update and file of conjugate models of single columns. */
#include "univariate.h"
#include "base/number.h"
#include "base/parallel.h"
#include "data/table/table_internal.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 256, MOST_SPANS = 64, MOST_STATS = 8 };

CRI_RECORD_TABLE(, cri_conjugate_record, cri_conjugate, CRI_CONJUGATE_STATE);

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
        return cr_fail_hint(cx, "name the columns with --features %s", d->target.name);
    }
    if (d->standardised)
        return cr_fail(cx, CR_EARG,
                       "the model %s describes columns as they are: --scale standard "
                       "does not go with it",
                       model);
    bool expanded = d->p != d->n_columns;
    for (size_t i = 0; i < d->n_columns; i++) expanded |= cri_design_has_basis(d, i);
    if (expanded)
        return cr_fail(cx, CR_EARG,
                       "the model %s describes columns as they are: --basis does not go with it",
                       model);
    if (d->p == 0) return cr_fail(cx, CR_EDATA, "there is no column for %s to describe", model);
    return CR_OK;
}

cr_status cri_conjugate_need_numbers(cr_ctx *cx, const char *model, const cr_design *d)
{
    for (size_t j = 0; j < d->n_columns; j++) {
        if (d->columns[j].type != CR_CATEGORY) continue;
        cr_fail(cx, CR_EDATA, "column '%s' holds text, but %s describes numbers",
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
    cr_fail(cx, CR_EARG, "--success is '%s', but column '%s' holds numbers", opt_success, c->name);
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

typedef struct measuring {
    const cri_conjugate *m;
    const cri_rows      *rows;
    size_t               spans;
    double              *stats; /* [spans x n x n_stats]                              */
    size_t              *bad;   /* [spans x n] the first row that does not fit, or n  */
} measuring;

static void merge(const cri_conjugate_family *f, double *stats, const double *more)
{
    if (f->merge)
        f->merge(stats, more);
    else
        for (size_t k = 0; k < f->n_stats; k++) stats[k] += more[k];
}

/* The values of positive weight of a block, moved together; their number.  *bad gets the first row
 * whose value the family cannot have. */
static size_t take_block(const measuring *a, size_t j, size_t begin, size_t end, double *x,
                         double *w, size_t *bad)
{
    const cri_conjugate *m = a->m;
    const cri_rows      *rows = a->rows;
    bool                 code = cri_design_is_code(rows->design, j), binary = m->family->binary;
    size_t               n = 0;
    cri_rows_fill_term(rows, j, begin, end, x, 1);
    for (size_t i = begin; i < end; i++) {
        double value = x[i - begin];
        w[n] = rows->w ? rows->w[i] : 1;
        if (w[n] == 0) continue;
        bool fits = code || !isnan(m->above[j]) || m->family->valid(m->prior, value);
        if (!fits && *bad == rows->n) *bad = i;
        x[n++] = binary ? cri_conjugate_success(m, j, value) : value;
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
        bool    any = false;
        *bad = a->rows->n;
        for (size_t b = s * each; b < blocks && b < (s + 1) * each; b++) {
            cri_range r = cri_block_range(a->rows->n, BLOCK, b);
            size_t    n = take_block(a, j, r.begin, r.end, x, w, bad);
            if (n == 0) continue;
            f->measure(x, w, n, any ? part : stats);
            if (any) merge(f, stats, part);
            any = true;
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

/* Numbers of a yes-or-no column that are more than 0 and 1: what is above 0 counts, and that is
 * said.  Fails at other values that the family cannot have. */
static cr_status accept_or_refuse(cr_ctx *cx, const cri_rows *rows, cri_conjugate *m, size_t j,
                                  size_t bad, bool lenient)
{
    const cri_design_column *c = &rows->design->columns[j];
    if (!lenient || !m->family->binary || c->type == CR_BOOLEAN)
        return refuse_value(cx, rows, m->family, j, bad);
    m->above[j] = 0;
    cr_log(cx, CR_LOG_WARNING,
           "column '%s' holds other numbers than 0 and 1: those above 0 count as successes; "
           "--success '>T' counts those above T",
           c->name);
    return CR_OK;
}

/* One warning, of the first strange value of positive weight. */
static void warn_of_strange(cr_ctx *cx, const cri_rows *rows, const cri_conjugate_family *f)
{
    double x[BLOCK];
    for (size_t j = 0; f->strange && j < rows->p; j++)
        for (size_t b = 0; b < cri_block_count(rows->n, BLOCK); b++) {
            cri_range r = cri_block_range(rows->n, BLOCK, b);
            cri_rows_fill_term(rows, j, r.begin, r.end, x, 1);
            for (size_t i = r.begin; i < r.end; i++) {
                if ((rows->w && rows->w[i] == 0) || !f->strange(x[i - r.begin])) continue;
                cr_log(cx, CR_LOG_WARNING, "column '%s' holds %g, and %s describes %s: %s",
                       rows->design->columns[j].name, x[i - r.begin], f->model, f->needs,
                       f->advice);
                return;
            }
        }
}

/* The statistics of all rows are merged into m->stats in the order of the spans.  Lenient: numbers
 * other than 0 and 1 may change what counts as success. */
static cr_status measure_rows(cr_ctx *cx, const cri_rows *rows, bool lenient, cri_conjugate *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     blocks = cri_block_count(rows->n, BLOCK);
    size_t     spans = blocks < MOST_SPANS ? blocks : MOST_SPANS, S = m->n_stats;
    bool       again = false;
    measuring  a = { m, rows, spans, NULL, NULL };

    a.stats = cr_scratch_bytes(&s, spans * m->n * S, sizeof(double));
    a.bad = cr_scratch_index(&s, spans * m->n);
    CR_TRY(s.status);
    CR_TRY(cri_parallel_for(cx, "counting", spans, measure_span, &a));
    for (size_t k = 0; k < spans; k++)
        for (size_t j = 0; j < m->n; j++) {
            size_t bad = a.bad[k * m->n + j];
            if (bad == rows->n || !isnan(m->above[j])) continue;
            CR_TRY(accept_or_refuse(cx, rows, m, j, bad, lenient));
            again = true;
        }
    if (again) CR_TRY(cri_parallel_for(cx, "counting", spans, measure_span, &a));
    for (size_t k = 0; k < spans; k++)
        for (size_t j = 0; j < m->n; j++) {
            double *stats = m->stats + j * S, *part = a.stats + (k * m->n + j) * S;
            if (!(part[0] > 0)) continue; /* no row of this span counts */
            if (!(stats[0] > 0))
                memcpy(stats, part, S * sizeof *stats);
            else
                merge(m->family, stats, part);
        }
    for (size_t i = 0; i < m->n * S; i++)
        if (!isfinite(m->stats[i]))
            CR_TRY(cr_fail(cx, CR_ENUMERIC, "column '%s' is so large that its sums overflow",
                           rows->design->columns[i / S].name));
    warn_of_strange(cx, rows, m->family);
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
            cr_fail(cx, CR_EDATA, "column '%s' leaves the posterior improper: %s",
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

static void fill_report(const cri_conjugate *m, cr_report *report)
{
    report->stop = CR_STOP_CLOSED_FORM;
    report->evidence = CR_EVIDENCE_EXACT;
    report->log_evidence = 0;
    for (size_t j = 0; j < m->n; j++) report->log_evidence += m->log_evidence[j];
}

cr_status cri_conjugate_fit(cr_ctx *cx, const cri_conjugate_family *f, const cri_rows *rows,
                            const cri_conjugate_request *request, void **out_state,
                            cr_report *report)
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
    CR_TRY(measure_rows(cx, rows, !request->opt_success, m));
    CR_TRY(solve(cx, rows->design, m));
    fill_report(m, report);
    *out_state = m;
    m = NULL;
done:
    free_state(cx, m);
    cr_scratch_end(&s);
    return st;
}

cr_status cri_conjugate_update(cr_ctx *cx, const void *state, const cri_rows *rows,
                               const void *options, void **out_state, cr_report *report)
{
    cr_status            st = CR_OK;
    const cri_conjugate *old = state;
    cri_conjugate       *m = NULL;
    (void)options;

    CR_TRY(new_state(cx, old->family, old->n, &m));
    m->level = old->level;
    memcpy(m->prior, old->prior, m->n_params * sizeof(double));
    memcpy(m->success, old->success, m->n * sizeof(double));
    memcpy(m->above, old->above, m->n * sizeof(double));
    memcpy(m->stats, old->stats, m->n * m->n_stats * sizeof(double));
    CR_TRY(measure_rows(cx, rows, false, m));
    CR_TRY(solve(cx, rows->design, m));
    fill_report(m, report);
    *out_state = m;
    m = NULL;
done:
    free_state(cx, m);
    return st;
}

/* --- file ------------------------------------------------------------------------------------ */

/* Prior and statistics are such as a fit gives. */
static bool is_sound(const cri_conjugate *m)
{
    for (size_t j = 0; j < m->n; j++)
        if (isnan(m->success[j]) || !(m->stats[j * m->n_stats] >= 0) ||
            !m->family->sound(m->prior, m->stats + j * m->n_stats))
            return false;
    return true;
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

/* rows.c -- a table seen through a design: checking cells, target and weights, filling X. */
#include "made.h"
#include "data/table/table_internal.h"
#include "base/context_internal.h"
#include "base/number.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { FILL_ROWS = 256 };

/* --- checking cells -------------------------------------------------------------------------- */

cr_status cri_column_check_finite(cr_ctx *cx, const cr_table *t, const cr_column *c)
{
    char   where[512];
    size_t row = 0;
    if (!c->infinite) return CR_OK;
    while (!isinf(c->values[row * c->stride])) row++;
    cr_fail(cx, CR_EDATA, "%s: column '%s' is infinite",
            cri_table_where(t, row, where, sizeof where), c->name);
    return cr_fail_hint(cx, "use --missing-values=inf,-inf if that means missing");
}

/* Fails where the highest power of a column overflows; the values are finite. */
static cr_status check_powers(cr_ctx *cx, const cri_rows *r)
{
    const cr_design *d = r->design;
    for (size_t j = 0; j < d->n_terms; j++) {
        const cri_design_term *term = &d->terms[j];
        const cr_column       *c = r->columns[term->column];
        bool highest = j + 1 == d->n_terms || d->terms[j + 1].column != term->column ||
                       d->terms[j + 1].power < term->power;
        size_t at = 0;
        double largest = 0;
        char   where[512];
        if (term->power < 2 || !highest) continue;
        for (size_t i = 0; i < cr_table_rows(r->table); i++) {
            double x = fabs(c->values[i * c->stride] - term->centre);
            if (x > largest) largest = x, at = i;
        }
        if (!isfinite(pow(largest, term->power)))
            return cr_fail(cx, CR_EDATA, "%s: column '%s' to the power %u overflows",
                           cri_table_where(r->table, at, where, sizeof where), c->name,
                           term->power);
    }
    return CR_OK;
}

static cr_status refuse_missing(cr_ctx *cx, const cr_table *t, const cr_column *c, const char *role)
{
    size_t row = 0;
    char   where[512];
    while (!cri_is_missing(c, row)) row++;
    cr_fail(cx, CR_EDATA, "%s: the %s '%s' has no value (it is missing in %zu of %zu rows)",
            cri_table_where(t, row, where, sizeof where), role, c->name, c->missing,
            cr_table_rows(t));
    if (c->missing == cr_table_rows(t) && strcmp(role, "column") == 0)
        return cr_fail_hint(cx, "--features '!%s' leaves the column out of the fit", c->name);
    return cr_fail_hint(cx,
                        strcmp(role, "column") == 0
                            ? "a model fitted with --missing drop leaves such rows out, one with "
                              "--missing impute fills them"
                            : "a model fitted with --missing drop leaves such rows out");
}

/* Where rows would be dropped for gaps in features too, how many there are of both. */
static cr_status refuse_gap(cr_ctx *cx, const cri_rows *r, const cri_block_rows *block,
                            const cr_column *c, const char *role)
{
    size_t    rows = cr_table_rows(r->table), both = 0;
    cr_status st = refuse_missing(cx, r->table, c, role);
    for (size_t row = 0; row < rows; row++) {
        bool gap = cri_is_missing(c, row) || (block->missing && cri_block_is_missing(block, row));
        for (size_t i = 0; !gap && i < r->design->n_columns; i++)
            gap = cri_is_missing(r->columns[i], row);
        both += gap;
    }
    if (both == c->missing) return st;
    return cr_fail_hint(
        cx,
        strcmp(role, "target") == 0
            ? "--missing drop leaves out all %zu rows with missing values, including those in "
              "features; --missing impute fills these, and leaves out only rows without a %s"
            : "--missing drop leaves out all %zu rows with missing values, including those in "
              "features; to keep these, remove the rows without a %s from the file",
        both, role);
}

/* How many values of the rows that are kept are missing. */
static size_t count_gaps(const cri_rows *r, const cri_block_rows *block)
{
    size_t gaps = block->missing;
    for (size_t i = 0; i < r->design->n_columns; i++)
        for (size_t k = 0; r->columns[i]->missing && k < r->n; k++)
            gaps += cri_is_missing(r->columns[i], r->index ? r->index[k] : k);
    return gaps;
}

/* Applies the policy to the features and the target: fails, or lists the rows to keep.  A target is never
 * filled in: where features are, rows without it are dropped. */
static cr_status keep_rows(cr_ctx *cx, cri_rows *r, const cri_block_rows *block,
                           const cr_column *target, const cr_column *w)
{
    const cr_design *d = r->design;
    size_t           rows = cr_table_rows(r->table), gaps = block->missing;
    bool             impute = d->missing == CR_MISSING_IMPUTE;
    bool             drop = d->missing == CR_MISSING_DROP;

    if (block->missing && d->missing == CR_MISSING_ERROR)
        return cri_block_refuse_missing(cx, d, r->table, block);
    for (size_t i = 0; i < d->n_columns; i++) {
        const cr_column *c = r->columns[i];
        if (c->missing && d->missing == CR_MISSING_ERROR)
            return refuse_missing(cx, r->table, c, "column");
        gaps += c->missing;
    }
    if (impute) r->imputed = gaps, gaps = 0;
    if (d->series) target = NULL; /* its gaps are the model's own */
    if (target && target->missing && !drop && !impute)
        return refuse_gap(cx, r, block, target, "target");
    if (w && w->missing && !drop) return refuse_gap(cx, r, block, w, "weight");
    gaps += (target ? target->missing : 0) + (w ? w->missing : 0);
    r->n = rows;
    if (!(drop || impute) || gaps == 0) return CR_OK;

    r->index = cr_alloc(cx, rows, sizeof *r->index);
    if (!r->index) return CR_ENOMEM;
    r->n = 0;
    for (size_t row = 0; row < rows; row++) {
        bool keep = !(target && cri_is_missing(target, row)) && !(w && cri_is_missing(w, row)) &&
                    (impute || !(block->missing && cri_block_is_missing(block, row)));
        for (size_t i = 0; keep && !impute && i < d->n_columns; i++)
            keep = !cri_is_missing(r->columns[i], row);
        if (keep) r->index[r->n++] = row;
    }
    if (impute) r->imputed = count_gaps(r, block);
    return CR_OK;
}

/* --- target and weights ---------------------------------------------------------------------- */

/* The column of weights, part of fitting and scoring; NULL when the data have none. */
static cr_status match_weights(cr_ctx *cx, const cr_table *t, const cr_design *d,
                               const cr_column **out_weights)
{
    const cr_column *w = cr_table_find(t, d->weights);
    *out_weights = w;
    if (!w) {
        cr_log(cx, CR_LOG_WARNING, "%s has no weights '%s': each row counts once",
               cr_table_source(t), d->weights);
        return CR_OK;
    }
    if (w->type == CR_CATEGORY)
        return cr_fail(cx, CR_EDATA, "%s: the weights '%s' are not numbers", cr_table_source(t),
                       d->weights);
    return cri_column_check_finite(cx, t, w);
}

cr_status cri_rows_fail_weight(cr_ctx *cx, const cri_rows *r)
{
    return cr_fail(cx, CR_EDATA, "%s: the weights '%s' are all zero", cr_table_source(r->table),
                   r->design->weights);
}

static cr_status read_weights(cr_ctx *cx, cri_rows *r, const cr_column *c)
{
    r->w = cr_resize(cx, NULL, 0, cr_table_rows(r->table), sizeof *r->w);
    if (!r->w) return CR_ENOMEM;
    double total = 0;
    for (size_t i = 0; i < r->n; i++) {
        size_t row = r->index ? r->index[i] : i;
        char   where[512];
        r->w[i] = c->values[row * c->stride];
        total += r->w[i];
        if (r->w[i] < 0)
            return cr_fail(cx, CR_EDATA, "%s: the weight '%s' is negative",
                           cri_table_where(r->table, row, where, sizeof where), c->name);
    }
    r->weightless = r->n > 0 && !(total > 0);
    if (!isfinite(total))
        return cr_fail(cx, CR_ENUMERIC, "%s: the sum of the weights '%s' overflows",
                       cr_table_source(r->table), c->name);
    return CR_OK;
}

/* A further column that the model reads, at fitting and at prediction; it has no gaps, except where it says of some
 * rows of sequences what is known of them: there it may be absent from rows to predict, too. */
static cr_status read_role(cr_ctx *cx, cri_rows *r, const char *name, bool needed, double **out)
{
    const cr_column *c = cr_table_find(r->table, name);
    bool             open = r->design->sequences && !r->design->series;
    if (!c && open && !needed) return CR_OK;
    if (!c) {
        cr_status st = cri_table_no_column(cx, r->table, name);
        return st == CR_EDATA
                   ? cr_fail_note(
                         cx,
                         "an option of the fit names it (an offset, an exposure, a number of "
                         "trials or the variance of the noise), so the model needs it in every row")
                   : st;
    }
    if (c->type == CR_CATEGORY)
        return cr_fail(cx, CR_EDATA,
                       "%s: column '%s' contains text, but the model needs numbers there",
                       cr_table_source(r->table), name);
    cr_status st = cri_column_check_finite(cx, r->table, c);
    if (st != CR_OK) return st;
    *out = cr_resize(cx, NULL, 0, cr_table_rows(r->table), sizeof **out);
    if (!*out) return CR_ENOMEM;
    for (size_t i = 0; i < r->n; i++) {
        size_t row = r->index ? r->index[i] : i;
        char   where[512];
        (*out)[i] = c->values[row * c->stride];
        if (isnan((*out)[i]) && !open)
            return cr_fail(cx, CR_EDATA, "%s: column '%s' has no value",
                           cri_table_where(r->table, row, where, sizeof where), name);
    }
    return CR_OK;
}

static cr_status read_roles(cr_ctx *cx, cri_rows *r, bool needed)
{
    cr_status st = CR_OK;
    for (size_t k = 0; k < CRI_MOST_ROLES && st == CR_OK; k++)
        if (r->design->roles[k]) st = read_role(cx, r, r->design->roles[k], needed, &r->roles[k]);
    return st;
}

/* The rows as they lie in memory, when X is a row-major matrix of the caller's: no index, no
 * missing values, every term a plain column, side by side.  NULL otherwise. */
static const double *find_matrix(const cri_rows *r)
{
    const double *first = r->p > 0 && !r->sparse ? r->columns[0]->values : NULL;
    if (!first || r->index || r->p != r->design->n_columns) return NULL;
    for (size_t j = 0; j < r->p; j++) {
        const cr_column *c = r->columns[j];
        bool plain = r->design->terms[j].column == j && r->design->terms[j].power == 1 &&
                     c->missing == 0 && r->design->shift[j] == 0 && r->design->scale[j] == 1;
        if (!plain || c->values != first + j || c->stride != r->columns[0]->stride) return NULL;
    }
    return first;
}

/* --- open and close -------------------------------------------------------------------------- */

cr_status cri_rows_open(cr_ctx *cx, const cr_design *d, const cr_table *t, cri_target_use use,
                        cri_rows *out_rows)
{
    cr_status        st = CR_OK;
    cri_rows         r = { .design = d, .table = t, .p = d->p };
    const cr_column *target = NULL, *weights = NULL;
    cri_level_map    target_map = { 0 };
    cri_block_rows   block = { 0 };
    bool             needed = use == CRI_TARGET_NEEDED || use == CRI_TARGET_OF_PART;
    if (d->series && use == CRI_INPUTS_ALONE) use = CRI_TARGET_NONE;
    bool seen = d->series && use == CRI_TARGET_NONE && cr_table_find(t, d->target.name);

    CR_TRY(cri_rows_open_columns(cx, &r));
    CR_TRY(check_powers(cx, &r));
    CR_TRY(cri_rows_check_bases(cx, &r));
    if (d->block.n > 0) CR_TRY(cri_block_open(cx, d, t, &block));
    if ((needed || seen) && d->target.name) {
        CR_TRY(cri_match_column(cx, t, &d->target, &target, &target_map));
        CR_TRY(cri_column_check_finite(cx, t, target));
    }
    if (needed && d->weights) CR_TRY(match_weights(cx, t, d, &weights));
    CR_TRY(keep_rows(cx, &r, &block, target, weights));
    if (d->block.n > 0) CR_TRY(cri_block_finish(cx, &block, &r));
    if (d->sparse_levels) CR_TRY(cri_rows_gather_levels(cx, &r));
    if (target) CR_TRY(cri_rows_read_target(cx, &r, target, target_map));
    if (weights) CR_TRY(read_weights(cx, &r, weights));
    if (r.weightless && use != CRI_TARGET_OF_PART) CR_TRY(cri_rows_fail_weight(cx, &r));
    if (use != CRI_INPUTS_ALONE)
        CR_TRY(read_roles(cx, &r, use == CRI_TARGET_NEEDED || use == CRI_TARGET_OF_PART));
    if (use != CRI_INPUTS_ALONE && d->sequences) CR_TRY(cri_rows_open_sequences(cx, &r));
    r.matrix = find_matrix(&r);
    *out_rows = r;
    r = (cri_rows){ 0 };
done:
    cri_level_map_free(cx, t, target, target_map);
    cri_block_close(cx, &block);
    cri_rows_close(cx, &r);
    return st;
}

void cri_rows_close(cr_ctx *cx, cri_rows *r)
{
    if (!r->design) return;
    size_t rows = cr_table_rows(r->table);
    cri_rows_close_sequences(cx, r);
    cri_rows_close_columns(cx, r);
    if (r->copy) cri_sparse_free(cx, r->copy);
    cr_free(cx, r->copy, 1, sizeof *r->copy);
    cr_free(cx, r->base, r->p, sizeof *r->base);
    cr_free(cx, r->index, rows, sizeof *r->index);
    cr_free(cx, r->y, rows, sizeof *r->y);
    cr_free(cx, r->w, rows, sizeof *r->w);
    if (r->class_weight)
        cr_free(cx, r->class_weight, cr_design_classes(r->design), sizeof *r->class_weight);
    for (size_t k = 0; k < CRI_MOST_ROLES; k++) cr_free(cx, r->roles[k], rows, sizeof(double));
    *r = (cri_rows){ 0 };
}

/* --- filling X ------------------------------------------------------------------------------- */

/* What stands for a missing cell of a column. */
static double fill_of(const cri_rows *r, size_t column)
{
    return r->design->missing == CR_MISSING_IMPUTE ? r->design->columns[column].fill : NAN;
}

/* The level of rows of a category, whatever type the table gave it; NaN where there is none. */
static void fill_codes(const cri_rows *r, size_t column, size_t begin, size_t end, double *out,
                       size_t stride)
{
    const cr_column *c = r->columns[column];
    cri_level_map    map = { .recode = r->recode[column], .levels = r->levels[column] };
    double           fill = fill_of(r, column);
    for (size_t i = begin; i < end; i++, out += stride) {
        size_t row = r->index ? r->index[i] : i;
        *out = cri_is_missing(c, row) ? fill : cri_level_in(map, c, row);
    }
}

void cri_rows_groups(const cri_rows *r, size_t *out)
{
    size_t column = cri_design_varying(r->design);
    double code[FILL_ROWS];
    for (size_t from = 0; from < r->n; from += FILL_ROWS) {
        size_t to = r->n - from > FILL_ROWS ? from + FILL_ROWS : r->n;
        fill_codes(r, column, from, to, code, 1);
        for (size_t i = from; i < to; i++) out[i] = (size_t)code[i - from];
    }
}

double cri_rows_multiplier(const cri_rows *r, size_t column, size_t i)
{
    size_t by = r->design->columns[column].made.by;
    if (by == 0) return 1;
    const cr_column *c = r->columns[by - 1];
    double           x = c->values[(r->index ? r->index[i] : i) * c->stride];
    return isnan(x) ? fill_of(r, by - 1) : x;
}

/* The indicators of a level, each times the number that the column has beside it. */
static void fill_indicator(const cri_rows *r, const cri_design_term *term, double shift,
                           double scale, size_t begin, size_t end, double *out, size_t stride)
{
    double off = (0 - shift) / scale, on = (1 - shift) / scale, own = (double)term->level;
    bool   multiplied = r->design->columns[term->column].made.by > 0;
    fill_codes(r, term->column, begin, end, out, stride);
    for (size_t i = begin; i < end; i++, out += stride) {
        if (isnan(*out)) continue;
        double x = *out == own && multiplied ? cri_rows_multiplier(r, term->column, i) : 1;
        *out = *out != own ? off : multiplied ? (x - shift) / scale : on;
    }
}

void cri_rows_fill_values(const cri_rows *r, const cri_design_term *term, double shift,
                          double scale, size_t begin, size_t end, double *out, size_t stride)
{
    const cr_column *c = r->columns[term->column];
    double           fill;

    if (cri_design_has_basis(r->design, term->column)) {
        cri_rows_fill_basis(r, term, 1, &shift, &scale, begin, end, out, stride);
        return;
    }
    if (term->code) {
        fill_codes(r, term->column, begin, end, out, stride);
        return;
    }
    if (term->power == 0) {
        fill_indicator(r, term, shift, scale, begin, end, out, stride);
        return;
    }
    if (term->power == 1 && c->missing == 0 && shift == 0 && scale == 1) {
        const double *x = c->values + begin * c->stride; /* the common case, without a branch */
        for (size_t i = begin; i < end && !r->index; i++, out += stride, x += c->stride) *out = *x;
        for (size_t i = begin; i < end && r->index; i++, out += stride)
            *out = c->values[r->index[i] * c->stride];
        return;
    }
    fill = fill_of(r, term->column);
    for (size_t i = begin; i < end; i++, out += stride) {
        double x = c->values[(r->index ? r->index[i] : i) * c->stride];
        if (isnan(x)) x = fill;
        if (term->power > 1) {
            x -= term->centre;
            x = term->power == 2 ? x * x : pow(x, term->power);
        }
        *out = (x - shift) / scale;
    }
}

void cri_rows_fill_ordinary(const cri_rows *r, size_t k, bool raw, size_t begin, size_t end,
                            double *out, size_t stride)
{
    size_t j = r->design->block.n + k;
    double shift = raw ? 0 : r->design->shift[j], scale = raw ? 1 : r->design->scale[j];
    cri_rows_fill_values(r, &r->design->terms[k], shift, scale, begin, end, out, stride);
}

void cri_rows_fill_term(const cri_rows *r, size_t j, size_t begin, size_t end, double *out,
                        size_t stride)
{
    double shift = r->design->shift[j], scale = r->design->scale[j];
    if (!r->sparse) {
        cri_rows_fill_ordinary(r, j, false, begin, end, out, stride);
        return;
    }
    for (size_t i = begin; i < end; i++, out += stride)
        *out = (cri_sparse_at(r->sparse, i, j) - shift) / scale;
}

/* The row spread out: a standardised 0 where there is no entry. */
static void fill_sparse_row(const cri_rows *r, size_t i, double *out)
{
    const cri_sparse *X = r->sparse;
    size_t            end, e = cri_sparse_row(X, i, &end);
    if (r->base)
        memcpy(out, r->base, r->p * sizeof *out);
    else
        memset(out, 0, r->p * sizeof *out);
    for (; e < end; e++) {
        size_t j = X->column[e];
        out[j] = X->plain ? X->value[e] : (X->value[e] - X->shift[j]) / X->scale[j];
    }
}

void cri_rows_fill(const cri_rows *r, size_t begin, size_t end, double *X, size_t stride)
{
    if (r->sparse) {
        for (size_t i = begin; i < end; i++, X += stride) fill_sparse_row(r, i, X);
        return;
    }
    if (r->matrix) {
        for (size_t i = begin; i < end; i++, X += stride)
            memcpy(X, r->matrix + i * r->columns[0]->stride, r->p * sizeof(double));
        return;
    }
    enum { ROWS = 32 }; /* few enough that their lines stay in the first cache */
    for (size_t i = begin; i < end; i += ROWS) {
        size_t stop = end - i > ROWS ? i + ROWS : end;
        for (size_t j = 0, run; j < r->p; j += run ? run : 1) { /* without a block, j = k */
            double *out = X + (i - begin) * stride + j;
            run = cri_rows_basis_run(r->design, j);
            if (run > 0)
                cri_rows_fill_basis(r, &r->design->terms[j], run, r->design->shift + j,
                                    r->design->scale + j, i, stop, out, stride);
            else
                cri_rows_fill_term(r, j, i, stop, out, stride);
        }
    }
}

typedef struct fill_work {
    const cri_rows *rows;
    double         *X;
} fill_work;

static void fill_block(void *arg, size_t b)
{
    const fill_work *w = arg;
    cri_range        range = cri_block_range(w->rows->n, FILL_ROWS, b);
    cri_rows_fill(w->rows, range.begin, range.end, w->X + range.begin * w->rows->p, w->rows->p);
}

cr_status cri_rows_matrix(cr_ctx *cx, const cri_rows *rows, double *X)
{
    fill_work w = { rows, X };
    return cri_parallel_for(cx, NULL, cri_block_count(rows->n, FILL_ROWS), fill_block, &w);
}

void cri_rows_spread(const cri_rows *rows, size_t width, double *a)
{
    size_t k = rows->n;
    if (!a || !rows->index) return;
    for (size_t i = cr_table_rows(rows->table); i-- > 0;) {
        bool kept = k > 0 && rows->index[k - 1] == i;
        if (kept) k--;
        for (size_t j = 0; j < width; j++) a[i * width + j] = kept ? a[k * width + j] : NAN;
    }
}

cr_status cri_rows_explain(cr_ctx *cx, const cri_rows *r, cr_status status)
{
    bool   out_of_memory = status == CR_ENOMEM && !cri_should_stop(cx); /* not out of time */
    double square = (double)r->p * (double)r->p * (double)sizeof(double) / 1e9;
    if (out_of_memory && square > 1) /* most likely that */
        return cr_fail_note(cx,
                            "there are %zu columns: each matrix of columns by columns takes %.3g "
                            "GB; choose some columns with --features, or use a model without such "
                            "matrices: naive-bayes, logistic, ridge, lasso, pca",
                            r->p, square);
    if (!out_of_memory || !r->sparse) return status;
    return cr_fail_note(cx,
                        "the data are sparse, but this model works with a dense matrix, here of "
                        "%zu rows and %zu columns: %.3g GB",
                        r->n, r->p, (double)r->n * (double)r->p * (double)sizeof(double) / 1e9);
}

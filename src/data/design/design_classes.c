/* design_classes.c -- a target of numbers whose values name classes: 0 and 1, -1 and 1, 1 to 9;
 * and whole numbers that name groups. */
#include "design_internal.h"
#include "data/table/date.h"
#include "data/table/table_internal.h"
#include "base/context_internal.h"
#include "base/number.h"
#include "base/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 1000, SURELY_CLASSES = 20 };

const char *cri_level_text(const cr_column *c, double value, char *buffer)
{
    if (c->type == CR_BOOLEAN) return value != 0 ? "true" : "false";
    cri_print_double(value == 0 ? 0 : value, buffer); /* no class "-0" */
    return buffer;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The place of v among sorted numbers: of the first that is not below it. */
static size_t place_of(const double *x, size_t n, double v)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The different values of a column, sorted, in x; their number, or MOST_CLASSES + 1 where there are
 * more than x [MOST_CLASSES] holds. */
static size_t different_values(const cr_column *c, size_t rows, double *x)
{
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        double v = c->values[i * c->stride];
        size_t at = place_of(x, n, v);
        if (isnan(v) || (at < n && x[at] == v)) continue;
        if (n == MOST_CLASSES) return n + 1;
        memmove(x + at + 1, x + at, (n - at) * sizeof *x);
        x[at] = v;
        n++;
    }
    return n;
}

/* The values that are classes, sorted, in x [MOST_CLASSES]. */
static cr_status find_classes(cr_ctx *cx, const cr_table *t, const cr_column *from, double *x,
                              size_t *out_n)
{
    size_t rows = cr_table_rows(t), n = different_values(from, rows, x);
    *out_n = n;
    if (n <= SURELY_CLASSES || (n <= MOST_CLASSES && n <= rows / 4)) return CR_OK;
    cr_fail(cx, CR_EDATA,
            "%s: the target '%s' has %zu%s different numbers in %zu rows, too many for classes",
            cr_table_source(t), from->name, n - (n > MOST_CLASSES),
            n > MOST_CLASSES ? " and more" : "", rows);
    return cr_fail_hint(
        cx,
        "a regression model predicts numbers; to treat them as classes anyway, use --category %s",
        from->name);
}

/* A category of the texts of n different numbers. */
static cr_status remember_values(cr_ctx *cx, const cr_column *from, const double *x, size_t n,
                                 cri_design_column *c)
{
    char buffer[CRI_DOUBLE_SIZE];
    c->type = CR_CATEGORY;
    c->reference = CRI_NO_LEVEL;
    c->name = cri_string_copy(cx, from->name);
    c->levels = cr_alloc(cx, n, sizeof *c->levels);
    c->n_levels = c->levels ? n : 0;
    if (!c->name || !c->levels) return CR_ENOMEM;
    for (size_t k = 0; k < n; k++) {
        c->levels[k] = cri_string_copy(cx, cri_level_text(from, x[k], buffer));
        if (!c->levels[k]) return CR_ENOMEM;
    }
    if (n > 0) qsort(c->levels, n, sizeof *c->levels, compare_texts);
    return CR_OK;
}

cr_status cri_remember_classes(cr_ctx *cx, const cr_table *t, const cr_column *from,
                               cri_design_column *c)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n;
    double    *x = cr_scratch_f64(&s, MOST_CLASSES);

    CR_TRY(s.status);
    CR_TRY(find_classes(cx, t, from, x, &n));
    CR_TRY(remember_values(cx, from, x, n, c));
done:
    cr_scratch_end(&s);
    return st;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

cr_status cri_remember_groups(cr_ctx *cx, const cr_table *t, const cr_column *from,
                              cri_design_column *c)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     rows = cr_table_rows(t), n = 0, different = 0;
    double    *x = cr_scratch_f64(&s, rows);
    char       buffer[CRI_DOUBLE_SIZE];

    CR_TRY(s.status);
    for (size_t i = 0; i < rows; i++) {
        double v = from->values[i * from->stride];
        if (isnan(v)) continue;
        if (v != floor(v) || isinf(v) || cri_is_date(from->type)) {
            cr_fail(cx, CR_EDATA,
                    "%s: the groups of (1 | %s) must be texts or whole numbers, but '%s' has %s",
                    cr_table_source(t), from->name, from->name,
                    cri_is_date(from->type) ? "dates" : "fractions");
            CR_TRY(
                cr_fail_hint(cx, "--category %s treats each of its values as a group", from->name));
        }
        x[n++] = v;
    }
    if (n > 0) qsort(x, n, sizeof *x, compare_numbers);
    double frequent = n > 0 ? x[0] : 0;
    for (size_t i = 0, run = 0, most = 0; i < n; i++) {
        run = i > 0 && x[i] == x[different - 1] ? run + 1 : 1;
        if (run == 1) x[different++] = x[i];
        if (run > most) most = run, frequent = x[different - 1];
    }
    CR_TRY(remember_values(cx, from, x, different, c));
    const char *text = cri_level_text(from, frequent, buffer);
    for (size_t k = 0; k < different; k++)
        if (strcmp(c->levels[k], text) == 0) c->fill = (double)k;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- classes that come later ----------------------------------------------------------------- */

static bool is_class(const cri_design_column *target, const char *level)
{
    return bsearch(&level, target->levels, target->n_levels, sizeof *target->levels,
                   compare_texts) != NULL;
}

/* The levels of a category that some row has and the target lacks; new [levels]. */
static size_t find_new_levels(const cr_column *c, size_t rows, const cri_design_column *target,
                              bool *seen, const char **new)
{
    size_t n = 0;
    for (size_t i = 0; i < rows; i++)
        if (c->codes[i] != CR_MISSING_CODE) seen[c->codes[i]] = true;
    for (size_t k = 0; k < c->n_levels; k++)
        if (seen[k] && !is_class(target, c->levels[k])) new[n++] = c->levels[k];
    return n;
}

/* The levels of the target and n new ones, in order; class k becomes map[k]. */
static cr_status add_levels(cr_ctx *cx, cri_design_column *target, const char **new, size_t n,
                            size_t *map)
{
    size_t K = target->n_levels;
    char **all = cr_alloc(cx, K + n, sizeof *all);
    if (!all) return CR_ENOMEM;
    qsort(new, n, sizeof *new, compare_texts);
    for (size_t k = 0, a = 0, b = 0; k < K + n; k++) {
        bool old = b == n || (a < K && strcmp(target->levels[a], new[b]) < 0);
        all[k] = old ? target->levels[a] : cri_string_copy(cx, new[b]);
        if (!all[k]) { /* the copies before it go; the rest is the target's own */
            for (size_t i = 0, j = 0; i < k; i++)
                if (j < a && all[i] == target->levels[j])
                    j++;
                else
                    cri_string_free(cx, all[i]);
            cr_free(cx, all, K + n, sizeof *all);
            return CR_ENOMEM;
        }
        if (old)
            map[a++] = k;
        else
            b++;
    }
    cr_free(cx, target->levels, K, sizeof *target->levels);
    target->levels = all;
    target->n_levels = K + n;
    return CR_OK;
}

cr_status cri_design_join_classes(cr_ctx *cx, cr_design *d, const cr_table *t, size_t *map)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(cx);
    const cr_column  *c = d->target.name ? cr_table_find(t, d->target.name) : NULL;
    cri_design_column found = { 0 };
    size_t            n = 0, levels = c ? c->n_levels : 0;

    for (size_t k = 0; k < d->target.n_levels; k++) map[k] = k;
    if (!c || d->target.type != CR_CATEGORY) goto done;
    if (c->type != CR_CATEGORY) {
        CR_TRY(cri_remember_classes(cx, t, c, &found));
        levels = found.n_levels;
    }
    bool *seen = cr_scratch_bytes(&s, levels, sizeof *seen);
    const char **new = cr_scratch_bytes(&s, levels, sizeof *new);
    CR_TRY(s.status);
    if (c->type == CR_CATEGORY) n = find_new_levels(c, cr_table_rows(t), &d->target, seen, new);
    for (size_t k = 0; k < found.n_levels; k++)
        if (!is_class(&d->target, found.levels[k])) new[n++] = found.levels[k];
    if (n > 0) CR_TRY(add_levels(cx, &d->target, new, n, map));
done:
    cri_string_free(cx, found.name);
    for (size_t k = 0; found.levels && k < found.n_levels; k++)
        cri_string_free(cx, found.levels[k]);
    cr_free(cx, found.levels, found.n_levels, sizeof *found.levels);
    cr_scratch_end(&s);
    return st;
}

/* --- the same as a column -------------------------------------------------------------------- */

static cr_status add_classes(cr_ctx *cx, const cr_table *t, const cr_column *from, cr_table *to)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     rows = cr_table_rows(t), n;
    double    *x = cr_scratch_f64(&s, MOST_CLASSES);
    uint32_t  *codes = cr_scratch_bytes(&s, rows, sizeof *codes);

    CR_TRY(s.status);
    CR_TRY(find_classes(cx, t, from, x, &n));
    char(*buffer)[CRI_DOUBLE_SIZE] = cr_scratch_bytes(&s, n, sizeof *buffer);
    const char **texts = cr_scratch_bytes(&s, n, sizeof *texts);
    CR_TRY(s.status);
    for (size_t k = 0; k < n; k++) texts[k] = cri_level_text(from, x[k], buffer[k]);
    for (size_t i = 0; i < rows; i++) {
        double v = from->values[i * from->stride];
        codes[i] = isnan(v) ? CR_MISSING_CODE : (uint32_t)place_of(x, n, v);
    }
    CR_TRY(cr_table_add_category(cx, to, from->name, codes, texts, n));
done:
    cr_scratch_end(&s);
    return st;
}

static cr_status add_codes(cr_ctx *cx, const cr_column *c, size_t rows, cr_table *to)
{
    uint32_t *codes = cr_resize(cx, NULL, 0, rows, sizeof *codes);
    if (!codes) return CR_ENOMEM;
    if (rows > 0) memcpy(codes, c->codes, rows * sizeof *codes);
    return cri_table_own_codes(cx, to, c, codes);
}

cr_status cri_table_with_classes(cr_ctx *cx, const cr_table *t, const char *column,
                                 cr_table **out_table)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     rows = cr_table_rows(t);
    size_t    *same = cr_scratch_index(&s, rows);
    cr_table  *to = NULL;

    CR_TRY(s.status);
    for (size_t i = 0; i < rows; i++) same[i] = i;
    CR_TRY(cr_table_new(cx, cr_table_source(t), rows, &to));
    CR_TRY(cri_table_set_origin(cx, to, t, same));
    for (size_t i = 0; i < cr_table_columns(t); i++) {
        const cr_csr *X = cr_table_csr(t);
        if (X && i == cr_table_csr_first(t))
            CR_TRY(cr_table_borrow_csr(cx, to, cr_table_csr_type(t), *X));
        if (X && i >= cr_table_csr_first(t) && i - cr_table_csr_first(t) < X->columns) continue;
        const cr_column *c = cr_table_column(t, i);
        if (c->type == CR_CATEGORY)
            CR_TRY(add_codes(cx, c, rows, to));
        else if (strcmp(c->name, column) == 0)
            CR_TRY(add_classes(cx, t, c, to));
        else
            CR_TRY(cr_table_borrow_numbers(cx, to, c->name, c->type, c->values, c->stride));
    }
    *out_table = to;
    to = NULL;
done:
    cr_table_free(cx, to);
    cr_scratch_end(&s);
    return st;
}

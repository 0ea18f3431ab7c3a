/* record.c -- what follows from the list of a struct's members: memory, and the values they may have. */
#include "record.h"
#include "context_internal.h"
#include "range.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* --- members ---------------------------------------------------------------------------------- */

static size_t count_at(const void *state, size_t offset)
{
    return *(const size_t *)((const char *)state + offset);
}

bool cri_member_is_array(const cri_member *m)
{
    return m->kind == CRI_MEMBER_vector || m->kind == CRI_MEMBER_matrix ||
           m->kind == CRI_MEMBER_index || m->kind == CRI_MEMBER_codes;
}

bool cri_member_has(const cri_member *m, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = m->range; (at = strstr(at, word)) != NULL; at += length)
        if ((at == m->range || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

size_t cri_member_rows(const cri_member *m, const void *state) { return count_at(state, m->rows); }

size_t cri_member_cols(const cri_member *m, const void *state)
{
    bool flat = m->kind == CRI_MEMBER_vector || m->kind == CRI_MEMBER_index;
    return flat ? 1 : count_at(state, m->cols);
}

size_t cri_member_elements(const cri_member *m, const void *state)
{
    size_t rows = cri_member_rows(m, state), cols = cri_member_cols(m, state);
    return cols && rows > SIZE_MAX / sizeof(double) / cols ? SIZE_MAX : rows * cols;
}

static size_t element_size(const cri_member *m)
{
    static const size_t sizes[] = { [CRI_MEMBER_vector] = sizeof(double),
                                    [CRI_MEMBER_matrix] = sizeof(double),
                                    [CRI_MEMBER_index] = sizeof(size_t),
                                    [CRI_MEMBER_codes] = sizeof(uint32_t) };
    return sizes[m->kind];
}

static void *part_at(const cri_member *m, void *state) { return (char *)state + m->offset; }

static char **text_at(const cri_member *m, void *state)
{
    return (char **)((char *)state + m->offset);
}

static void **array_at(const cri_member *m, void *state)
{
    return (void **)((char *)state + m->offset);
}

const char *cri_member_file_name(const cri_member *m)
{
    const char *as = strstr(m->range, "as:");
    return as ? as + strlen("as:") : m->name;
}

bool cri_member_is_absent(const cri_member *m, const void *state)
{
    const char *part = (const char *)state + m->offset;
    if (!m->part || !cri_member_has(m, "none")) return false;
    for (const cri_member *of = m->part; of->kind != CRI_MEMBER_END; of++)
        if (cri_member_is_array(of) && *(void *const *)(part + of->offset)) return false;
    return true;
}

/* --- memory ----------------------------------------------------------------------------------- */

cr_status cri_record_allocate(cr_ctx *cx, const cri_member *record, void *state)
{
    for (const cri_member *m = record; m->kind != CRI_MEMBER_END; m++) {
        if (cri_member_has(m, "none")) continue;
        cr_status st = m->part ? cri_record_allocate(cx, m->part, part_at(m, state)) : CR_OK;
        if (st != CR_OK) return st;
        if (!cri_member_is_array(m) || *array_at(m, state)) continue;
        *array_at(m, state) = cr_alloc(cx, cri_member_elements(m, state), element_size(m));
        if (!*array_at(m, state)) return cr_error_status(cx);
    }
    return CR_OK;
}

static size_t scalar_size(const cri_member *m)
{
    static const size_t sizes[] = { [CRI_MEMBER_count] = sizeof(size_t),
                                    [CRI_MEMBER_flag] = sizeof(bool),
                                    [CRI_MEMBER_real] = sizeof(double),
                                    [CRI_MEMBER_choice] = sizeof(int) };
    return sizes[m->kind];
}

static cr_status copy_array(cr_ctx *cx, const cri_member *m, const void *from, void *to)
{
    const void *a = *(void *const *)((const char *)from + m->offset);
    size_t      n = cri_member_elements(m, from);
    if (!a) return CR_OK;
    *array_at(m, to) = cr_alloc(cx, n, element_size(m));
    if (!*array_at(m, to)) return cr_error_status(cx);
    if (n > 0) memcpy(*array_at(m, to), a, n * element_size(m));
    return CR_OK;
}

static cr_status copy_text(cr_ctx *cx, const char *from, char **to)
{
    *to = cri_string_copy(cx, from);
    return !from || *to ? CR_OK : cr_error_status(cx);
}

cr_status cri_record_copy(cr_ctx *cx, const cri_member *record, const void *from, void *to)
{
    cr_status st = CR_OK;
    for (const cri_member *m = record; m->kind != CRI_MEMBER_END && st == CR_OK; m++) {
        const char *source = (const char *)from + m->offset;
        if (m->part)
            st = cri_record_copy(cx, m->part, source, part_at(m, to));
        else if (cri_member_is_array(m))
            st = copy_array(cx, m, from, to);
        else if (m->kind == CRI_MEMBER_text)
            st = copy_text(cx, *(char *const *)source, text_at(m, to));
        else
            memcpy(part_at(m, to), source, scalar_size(m));
    }
    return st;
}

void cri_record_free(cr_ctx *cx, const cri_member *record, void *state)
{
    for (const cri_member *m = record; m->kind != CRI_MEMBER_END; m++) {
        if (m->part) cri_record_free(cx, m->part, part_at(m, state));
        if (m->kind == CRI_MEMBER_text) {
            cri_string_free(cx, *text_at(m, state));
            *text_at(m, state) = NULL;
        }
        if (!cri_member_is_array(m)) continue;
        cr_free(cx, *array_at(m, state), cri_member_elements(m, state), element_size(m));
        *array_at(m, state) = NULL;
    }
}

static void move_members(const cri_member *record, void *from, void *to)
{
    for (const cri_member *m = record; m->kind != CRI_MEMBER_END; m++) {
        bool owned = cri_member_is_array(m) || m->kind == CRI_MEMBER_text;
        if (m->part) {
            move_members(m->part, part_at(m, from), part_at(m, to));
            continue;
        }
        memcpy(part_at(m, to), part_at(m, from), owned ? sizeof(void *) : scalar_size(m));
        if (owned) *array_at(m, from) = NULL;
    }
}

void cri_record_move(cr_ctx *cx, const cri_member *record, void *from, void *to)
{
    cri_record_free(cx, record, to);
    move_members(record, from, to);
}

/* --- values ----------------------------------------------------------------------------------- */

/* What a range says, read once for all elements of an array: numbers from least to most, both included. */
typedef struct rule {
    double least, most;
    bool   nan, sums, rises; /* nan: NaN is right too */
} rule;

static rule rule_of(const cri_member *m)
{
    size_t     length = strcspn(m->range, " ");
    bool       bounded = length > 0 && strchr("<>.-0123456789", m->range[0]) != NULL;
    bool       any = cri_member_has(m, "any"), endless = any || cri_member_has(m, "endless");
    cri_bounds b = cri_bounds_parse(m->range, bounded ? length : 0);
    double     least = b.open_low ? nextafter(b.low, INFINITY) : b.low;
    double     most = b.open_high ? nextafter(b.high, -INFINITY) : b.high;
    return (rule){ .least = endless ? least : fmax(least, -DBL_MAX),
                   .most = endless ? most : fmin(most, DBL_MAX),
                   .nan = any || cri_member_has(m, "minus"),
                   .sums = cri_member_has(m, "sums"),
                   .rises = cri_member_has(m, "rises") };
}

static bool is_right(const rule *r, double x)
{
    return isnan(x) ? r->nan : x >= r->least && x <= r->most;
}

/* Without a branch for each number: a factor of a process has millions, and each fit looks at all of them. */
static bool all_are_right(const rule *r, const double *x, size_t n)
{
    size_t wrong = 0, nans = 0;
    for (size_t j = 0; j < n; j++) wrong += (size_t)(!(x[j] >= r->least) | !(x[j] <= r->most));
    for (size_t j = 0; wrong > 0 && r->nan && j < n; j++) nans += isnan(x[j]) ? 1 : 0;
    return wrong == nans;
}

/* Of rows below each other; a vector is one row. */
static bool sums_are_one(const double *a, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < cols; j++) sum += a[i * cols + j];
        if (!(fabs(sum - 1) <= 1e-6)) return false;
    }
    return true;
}

static bool array_is_right(const rule *r, const double *a, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        if (!all_are_right(r, a + i * cols, cols)) return false;
    for (size_t i = 1; r->rises && i < rows * cols; i++)
        if (a[i] < a[i - 1]) return false;
    return !r->sums || sums_are_one(a, rows, cols);
}

double cri_member_whole_at(const cri_member *m, const void *a, size_t i)
{
    return m->kind == CRI_MEMBER_codes ? (double)((const uint32_t *)a)[i]
                                       : (double)((const size_t *)a)[i];
}

static bool whole_are_right(const rule *r, const cri_member *m, const void *a, size_t n)
{
    double before = 0;
    for (size_t i = 0; i < n; i++) {
        double x = cri_member_whole_at(m, a, i);
        if (!is_right(r, x) || (r->rises && x < before)) return false;
        before = x;
    }
    return true;
}

/* Lower triangles below each other. */
static bool diagonals_are_positive(const double *a, size_t rows, size_t n)
{
    for (size_t i = 0; i < rows; i++)
        if (!(a[i * n + i % n] > 0)) return false;
    return true;
}

static bool member_is_right(const cri_member *m, const void *state)
{
    const char *at = (const char *)state + m->offset;
    rule        r = rule_of(m);
    if (cri_member_has(m, "made")) return true;
    if (m->kind == CRI_MEMBER_count) return is_right(&r, (double)*(const size_t *)at);
    if (m->kind == CRI_MEMBER_real) {
        double x = *(const double *)at;
        return is_right(&r, x) || (!isfinite(x) && cri_member_has(m, "none")); /* null in files */
    }
    if (m->kind == CRI_MEMBER_text) return *(char *const *)at || cri_member_has(m, "none");
    if (!cri_member_is_array(m)) return true;
    const void *a = *(void *const *)at;
    size_t      rows = cri_member_rows(m, state);
    if (cri_member_has(m, "full") && cri_member_elements(m, state) == 0) return true;
    if (!a) return cri_member_has(m, "none") || cri_member_has(m, "full");
    if (m->kind == CRI_MEMBER_index || m->kind == CRI_MEMBER_codes)
        return whole_are_right(&r, m, a, cri_member_elements(m, state));
    if (m->kind == CRI_MEMBER_vector) return array_is_right(&r, a, 1, rows);
    if (cri_member_has(m, "triangle") &&
        !diagonals_are_positive(a, rows, cri_member_cols(m, state)))
        return false;
    return array_is_right(&r, a, rows, cri_member_cols(m, state));
}

const cri_member *cri_record_find_wrong(const cri_member *record, const void *state)
{
    for (const cri_member *m = record; m->kind != CRI_MEMBER_END; m++) {
        if (cri_member_is_absent(m, state)) continue;
        const void       *part = (const char *)state + m->offset;
        const cri_member *wrong = m->part ? cri_record_find_wrong(m->part, part) : NULL;
        if (wrong) return wrong;
        if (!member_is_right(m, state)) return m;
    }
    return NULL;
}

/* info_pairs.c -- info --matrix: the mutual information of each pair of columns. */
#include "info_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SHOWN = 40 }; /* columns of a matrix as text; beyond, a list of pairs */

typedef struct one_pair {
    const char    *a, *b;
    cr_information got;
    double         normalised;
} one_pair;

/* Counted: 2 I / (H + H).  With numbers: the correlation that two normal variables of this mutual
 * information have, sqrt(1 - exp(-2 I)); Linfoot (1957). */
static double normalise(const cr_information *g, double entropy_a, double entropy_b)
{
    double i = fmax(0, g->value);
    if (isnan(g->value)) return NAN;
    if (!g->counted) return sqrt(-expm1(-2 * i));
    return entropy_a + entropy_b > 0 ? fmin(1, 2 * i / (entropy_a + entropy_b)) : NAN;
}

/* Entropies of the counted columns, NaN of others. */
static cr_status measure_columns(info_job *j, const char **names, size_t n, double *out)
{
    cr_info_options how = j->how;
    how.bootstrap = 0;
    for (size_t i = 0; i < n; i++) {
        cr_information g;
        cr_status st = cr_table_entropy(j->c->cx, j->a, &names[i], 1, NULL, 0, &how, j->seed, &g);
        bool      known = cr_table_find(j->a, names[i]) != NULL;
        if (st != CR_OK && !(st == CR_EDATA && known)) return st;
        out[i] = st == CR_OK && g.counted ? g.value : NAN;
    }
    return CR_OK;
}

static cr_status measure_pairs(info_job *j, const char **names, size_t n, one_pair *out)
{
    cr_status       st = CR_OK;
    cr_info_options how = j->how;
    double         *entropy = cr_scratch_f64(&j->s, n);
    cr_information *got = cr_scratch_bytes(&j->s, n * (n - 1) / 2, sizeof *got);
    how.bootstrap = 0;
    CR_TRY(j->s.status);
    CR_TRY(measure_columns(j, names, n, entropy));
    CR_TRY(cr_table_mutual_pairs(j->c->cx, j->a, names, n, &how, j->seed, got));
    for (size_t b = 1, k = 0; b < n; b++)
        for (size_t a = 0; a < b; a++, k++)
            out[k] = (one_pair){ names[a], names[b], got[k],
                                 normalise(&got[k], entropy[a], entropy[b]) };
done:
    return st;
}

static json_t *pair_object(const info_job *j, const one_pair *p)
{
    json_t *o = json_object();
    json_object_set_new(o, "a", json_string_nocheck(p->a));
    json_object_set_new(o, "b", json_string_nocheck(p->b));
    json_object_set_new(o, "method", json_string(p->got.counted ? "counts" : "neighbours"));
    json_object_set_new(o, "rows", json_integer((json_int_t)p->got.rows));
    json_object_set_new(o, "mutual", info_number(j, p->got.value));
    json_object_set_new(o, "normalised",
                        isnan(p->normalised) ? json_null() : json_real(p->normalised));
    if (j->how.permutations > 0)
        json_object_set_new(o, "p", isnan(p->got.p) ? json_null() : json_real(p->got.p));
    return o;
}

/* --- as text --------------------------------------------------------------------------------- */

/* One field of every pair as a square. */
static void print_square(info_job *j, const char *title, const char **names, size_t n,
                         const one_pair *pairs, size_t which)
{
    json_t *rows = json_array();
    for (size_t a = 0; a < n; a++) {
        json_t *row = json_object();
        json_object_set_new(row, "", json_string_nocheck(names[a]));
        for (size_t b = 0; b < n; b++) {
            size_t          high = a > b ? a : b, low = a > b ? b : a;
            const one_pair *p = a == b ? NULL : &pairs[high * (high - 1) / 2 + low];
            double          value = !p           ? NAN
                                    : which == 0 ? p->got.value / j->per
                                    : which == 1 ? p->normalised
                                                 : p->got.p;
            char            text[32] = "";
            if (!isnan(value)) snprintf(text, sizeof text, "% .3f", value);
            json_object_set_new_nocheck(row, names[b], json_string(text));
        }
        json_array_append_new(rows, row);
    }
    out_text(j->c, "%s\n\n", title);
    out_table(j->c, rows);
    json_decref(rows);
}

static int compare_pairs(const void *a, const void *b)
{
    const one_pair *x = a, *y = b;
    double          p = isnan(x->got.value) ? -INFINITY : x->got.value;
    double          q = isnan(y->got.value) ? -INFINITY : y->got.value;
    return p > q ? -1 : p < q;
}

/* The answer as text, whole: nothing is left for the verb to print. */
static cr_status print_text(info_job *j, const char **names, size_t n, one_pair *pairs, size_t many)
{
    cr_status st = CR_OK;
    CR_TRY(info_title(j, "%s: mutual information in %s", cr_table_source(j->a), j->unit));
    CR_TRY(out_open(j->c, j->c->global.output));
    cli_clear_progress(j->c);
    if (n > MOST_SHOWN) { /* too wide: the pairs, most first */
        qsort(pairs, many, sizeof *pairs, compare_pairs);
        for (size_t i = 0; i < many; i++) json_array_append_new(j->rows, pair_object(j, &pairs[i]));
        out_text(j->c, "%s\n\n", j->title);
        out_table(j->c, j->rows);
        goto done;
    }
    print_square(j, j->title, names, n, pairs, 0);
    print_square(j, "\nnormalised: 0 for none, 1 for all", names, n, pairs, 1);
    if (j->how.permutations > 0) print_square(j, "\np-values", names, n, pairs, 2);
done:
    j->printed = true;
    return st;
}

cr_status info_matrix(info_job *j)
{
    cr_status    st = CR_OK;
    const char **names = NULL;
    size_t       n = 0, many;
    CR_TRY(info_columns(j, &names, &n));
    if (n < 2)
        CR_TRY(cr_fail(j->c->cx, CR_EARG, "--matrix needs at least two columns, not %zu", n));
    many = n * (n - 1) / 2;
    one_pair *pairs = cr_scratch_bytes(&j->s, many, sizeof *pairs);
    CR_TRY(j->s.status);
    CR_TRY(measure_pairs(j, names, n, pairs));
    if (j->c->format == FORMAT_TEXT) {
        CR_TRY(cli_check_strict(j->c));
        CR_TRY(print_text(j, names, n, pairs, many));
        goto done;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < many; i++) json_array_append_new(list, pair_object(j, &pairs[i]));
    json_object_set(j->root, "pairs", list);
    json_array_extend(j->rows, list);
    json_decref(list);
done:
    return st;
}

/* info_pairs.c -- info --matrix: the mutual information of each pair of columns. */
#include "info_job.h"

#include <math.h>
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

static void put_pair(const info_job *j, const one_pair *p, cri_sheet *o)
{
    cri_put_text(o, "a", p->a);
    cri_put_text(o, "b", p->b);
    cri_put_text(o, "method", p->got.counted ? "counts" : "neighbours");
    cri_put_count(o, "rows", p->got.rows);
    info_put(j, o, "mutual", p->got.value);
    cri_put_real(o, "normalised", p->normalised);
    if (j->how.permutations > 0) cri_put_real(o, "p", p->got.p);
}

/* --- as text --------------------------------------------------------------------------------- */

/* One field of every pair as a square. */
static cri_sheet *put_square(info_job *j, const char **names, size_t n, const one_pair *pairs,
                             size_t which)
{
    cri_sheet *rows = cri_put_list(j->r.whole, "square");
    for (size_t a = 0; a < n; a++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "", names[a]);
        for (size_t b = 0; b < n; b++) {
            size_t          high = a > b ? a : b, low = a > b ? b : a;
            const one_pair *p = a == b ? NULL : &pairs[high * (high - 1) / 2 + low];
            double          value = !p           ? NAN
                                    : which == 0 ? p->got.value / j->per
                                    : which == 1 ? p->normalised
                                                 : p->got.p;
            if (isnan(value))
                cri_put_text(row, names[b], "");
            else
                cri_put_textf(row, names[b], "% .3f", value);
        }
    }
    return rows;
}

static int compare_pairs(const void *a, const void *b)
{
    const one_pair *x = a, *y = b;
    double          p = isnan(x->got.value) ? -INFINITY : x->got.value;
    double          q = isnan(y->got.value) ? -INFINITY : y->got.value;
    return p > q ? -1 : p < q;
}

/* The squares, whole: nothing is left for the verb to print. */
static cr_status print_squares(info_job *j, const char **names, size_t n, const one_pair *pairs)
{
    static const char *const below[] = { "\nnormalised: 0 for none, 1 for all", "\np-values" };
    cr_status                st = CR_OK;
    size_t                   many = j->how.permutations > 0 ? 3 : 2;
    const cri_sheet         *square[3];
    for (size_t k = 0; k < many; k++) square[k] = put_square(j, names, n, pairs, k);
    CR_TRY(cli_result_open(j->c, j->r));
    cli_clear_progress(j->c);
    for (size_t k = 0; k < many; k++) {
        if (k == 0)
            out_text(j->c, "%s: mutual information in %s\n\n", cr_table_source(j->a), j->unit);
        else
            out_text(j->c, "%s\n\n", below[k - 1]);
        out_rows(j->c, square[k]);
    }
done:
    j->printed = true;
    return st;
}

cr_status info_matrix(info_job *j)
{
    cr_status    st = CR_OK;
    bool         text = j->c->format == FORMAT_TEXT;
    const char **names = NULL;
    size_t       n = 0, many;
    CR_TRY(info_columns(j, &names, &n));
    if (n < 2)
        CR_TRY(cr_fail(j->c->cx, CR_EARG, "--matrix needs at least two columns, not %zu", n));
    many = n * (n - 1) / 2;
    one_pair *pairs = cr_scratch_bytes(&j->s, many, sizeof *pairs);
    CR_TRY(j->s.status);
    CR_TRY(measure_pairs(j, names, n, pairs));
    if (text && n <= MOST_SHOWN) {
        CR_TRY(print_squares(j, names, n, pairs));
        goto done;
    }
    if (text)
        qsort(pairs, many, sizeof *pairs, compare_pairs); /* too wide: the pairs, most first */
    j->r.rows = cri_put_list(j->r.object, "pairs");
    for (size_t i = 0; i < many; i++) put_pair(j, &pairs[i], cri_put_object(j->r.rows, NULL));
    cli_result_title(j->r, "%s: mutual information in %s", cr_table_source(j->a), j->unit);
done:
    return st;
}

/* info_answer_pairs.c -- the mutual information of each pair of columns. */
#include "info_answer.h"

#include <math.h>

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
static cr_status measure_columns(cri_info_answer *j, const char **names, size_t n, double *out)
{
    cr_info_options how = j->how;
    how.bootstrap = 0;
    for (size_t i = 0; i < n; i++) {
        cr_information g;
        cr_status      st = cr_table_entropy(j->cx, j->a, &names[i], 1, NULL, 0, &how, j->seed, &g);
        bool           known = cr_table_find(j->a, names[i]) != NULL;
        if (st != CR_OK && !(st == CR_EDATA && known)) return st;
        out[i] = st == CR_OK && g.counted ? g.value : NAN;
    }
    return CR_OK;
}

static cr_status measure_pairs(cri_info_answer *j, const char **names, size_t n, one_pair *out)
{
    cr_status       st = CR_OK;
    cr_info_options how = j->how;
    double         *entropy = cr_scratch_f64(&j->s, n);
    cr_information *got = cr_scratch_bytes(&j->s, n * (n - 1) / 2, sizeof *got);
    how.bootstrap = 0;
    CR_TRY(j->s.status);
    CR_TRY(measure_columns(j, names, n, entropy));
    CR_TRY(cr_table_mutual_pairs(j->cx, j->a, names, n, &how, j->seed, got));
    for (size_t b = 1, k = 0; b < n; b++)
        for (size_t a = 0; a < b; a++, k++)
            out[k] = (one_pair){ names[a], names[b], got[k],
                                 normalise(&got[k], entropy[a], entropy[b]) };
done:
    return st;
}

static void put_pair(const cri_info_answer *j, const one_pair *p, cri_sheet *o)
{
    cri_put_text(o, "a", p->a);
    cri_put_text(o, "b", p->b);
    cri_put_text(o, "method", p->got.counted ? "counts" : "neighbours");
    cri_put_count(o, "rows", p->got.rows);
    cri_info_put(j, o, "mutual", p->got.value);
    cri_put_real(o, "normalised", p->normalised);
    if (j->how.permutations > 0) cri_put_real(o, "p", p->got.p);
}

cr_status cri_info_matrix(cri_info_answer *j)
{
    cr_status    st = CR_OK;
    const char **names = NULL;
    size_t       n = 0, many;
    CR_TRY(cri_info_columns(j, &names, &n));
    if (n < 2) CR_TRY(cr_fail(j->cx, CR_EARG, "--matrix needs at least two columns, not %zu", n));
    many = n * (n - 1) / 2;
    one_pair *pairs = cr_scratch_bytes(&j->s, many, sizeof *pairs);
    CR_TRY(j->s.status);
    CR_TRY(measure_pairs(j, names, n, pairs));
    j->rows = cri_put_list(j->object, "pairs"); /* the table is this list */
    for (size_t i = 0; i < many; i++) put_pair(j, &pairs[i], cri_put_object(j->rows, NULL));
    cri_info_title(j, "%s: mutual information in %s", cr_table_source(j->a), j->unit);
done:
    return st;
}

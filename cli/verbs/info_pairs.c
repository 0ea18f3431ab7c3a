/* info_pairs.c -- info --matrix for people: squares, or the pairs with the most information first. */
#include "info_pairs.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SHOWN = 40 }; /* columns of a matrix as text; beyond, a list of pairs */

static const char *text_of(const cri_sheet *pair, const char *name)
{
    return cri_sheet_text(cri_sheet_get(pair, name));
}

/* One field of every pair as a square; pairs [n (n - 1) / 2], that of a < b at b (b - 1) / 2 + a. */
static cri_sheet *put_square(cri_sheet *whole, const cri_sheet *const *pairs, size_t n,
                             const char *field)
{
    cri_sheet *rows = cri_put_list(whole, "square");
    for (size_t a = 0; a < n; a++) {
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "", a ? text_of(pairs[a * (a - 1) / 2], "b") : text_of(pairs[0], "a"));
        for (size_t b = 0; b < n; b++) {
            size_t high = a > b ? a : b, low = a > b ? b : a;
            double value =
                a == b ? NAN
                       : cri_sheet_real(cri_sheet_get(pairs[high * (high - 1) / 2 + low], field));
            const char *name = b ? text_of(pairs[b * (b - 1) / 2], "b") : text_of(pairs[0], "a");
            if (isnan(value))
                cri_put_text(row, name, "");
            else
                cri_put_textf(row, name, "% .3f", value);
        }
    }
    return rows;
}

static double rank_of(const cri_sheet *pair)
{
    double x = cri_sheet_real(cri_sheet_get(pair, "mutual"));
    return isnan(x) ? -INFINITY : x;
}

static int compare_pairs(const void *a, const void *b)
{
    double p = rank_of(*(const cri_sheet *const *)a), q = rank_of(*(const cri_sheet *const *)b);
    return p > q ? -1 : p < q;
}

static cr_status print_squares(cli *c, cli_result r, const cri_info_answer *j,
                               const cri_sheet *const *pairs, size_t n)
{
    static const char *const fields[] = { "mutual", "normalised", "p" };
    static const char *const below[] = { "\nnormalised: 0 for none, 1 for all", "\np-values" };
    cr_status                st = CR_OK;
    size_t                   many = j->how.permutations > 0 ? 3 : 2;
    const cri_sheet         *square[3];
    for (size_t k = 0; k < many; k++) square[k] = put_square(r.whole, pairs, n, fields[k]);
    CR_TRY(cli_result_open(c, r));
    cli_clear_progress(c);
    for (size_t k = 0; k < many; k++) {
        out_text(c, "%s\n\n", k == 0 ? j->title : below[k - 1]);
        out_rows(c, square[k]);
    }
done:
    return st;
}

cr_status info_print_pairs(cli *c, cli_result r, const cri_info_answer *j)
{
    cr_status         st = CR_OK;
    cr_scratch        s = cr_scratch_begin(c->cx);
    size_t            many = cri_sheet_size(j->rows), n = 2, k = 0;
    const cri_sheet **pairs = cr_scratch_bytes(&s, many, sizeof *pairs);
    CR_TRY(s.status);
    CR_TRY(cri_sheet_status(r.whole)); /* else there are fewer rows than pairs */
    while (n * (n - 1) / 2 < many) n++;
    for (const cri_sheet *row = cri_sheet_first(j->rows); row; row = cri_sheet_next(row))
        pairs[k++] = row;
    if (n <= MOST_SHOWN) {
        CR_TRY(print_squares(c, r, j, pairs, n));
        goto done;
    }
    qsort(pairs, many, sizeof *pairs, compare_pairs); /* too wide: the pairs, most first */
    for (size_t i = 0; i < many; i++) cri_put_copy(r.rows, NULL, pairs[i]);
    cli_result_title(r, "%s", j->title);
    CR_TRY(cli_result_print(c, r));
done:
    cr_scratch_end(&s);
    return st;
}

/* category.c -- kernels of category columns: one decay for all levels, or a covariance of
 * levels. */
#include "kernel_internal.h"

#include <math.h>

static uint32_t code_of(const cri_side *side, const cr_kernel *k, const cri_node *node, size_t i,
                        size_t c)
{
    return side->in->codes[i * side->in->categories + cri_column_at(k, node, c)];
}

/* The rows of entry (i, j) of a tile. */
static size_t other_row(cri_tile tile, size_t i, size_t j)
{
    return tile.diagonal ? tile.i0 + i : tile.j0 + j;
}

/* --- hamming --------------------------------------------------------------------------------- */

static size_t mismatches(const cri_job *job, const cri_node *node, cri_tile tile, size_t i,
                         size_t j)
{
    size_t n = cri_active(node, job->a.in), count = 0;
    if (tile.diagonal) return 0;
    for (size_t c = 0; c < n; c++)
        count += code_of(&job->a, job->k, node, tile.i0 + i, c) !=
                 code_of(&job->b, job->k, node, tile.j0 + j, c);
    return count;
}

static void hamming_pairs(const cri_job *job, size_t at, cri_tile tile, double *out)
{
    const cri_node *node = &job->k->nodes[at];
    double          l = cri_value(job->k, node, 0, 0);
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++)
            out[i * tile.nj + j] = -(double)mismatches(job, node, tile, i, j) / l;
    cri_exp_array(out, tile.ni * tile.nj);
}

static void hamming_partial(const cri_job *job, size_t at, size_t s, size_t e, cri_tile tile,
                            const double *v, double *out)
{
    const cri_node *node = &job->k->nodes[at];
    double          l = cri_value(job->k, node, 0, 0);
    (void)s, (void)e;
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++)
            out[i * tile.nj + j] =
                v[i * tile.nj + j] * (double)mismatches(job, node, tile, i, j) / (l * l);
}

static const cri_spec hamming_specs[] = {
    CRI_LEARNED("l", "lengthscale", "1", ">0",
                "number of differing columns over which it falls by a factor of e", CRI_LINK,
                CRI_LOG, 1),
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_hamming = {
    .name = "hamming",
    .aliases = "exchangeable",
    .summary = "categories: all levels equally far apart",
    .formula = "k(x, y) = exp(-(number of columns where x and y differ) / l)",
    .reference =
        "Hutter, Hoos & Leyton-Brown (2011), Sequential model-based optimization, sec. 4.2",
    .example = "hamming(colour; l=0.5)",
    .specs = hamming_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_CATEGORY,
    .pairs = hamming_pairs,
    .pairs_partial = hamming_partial,
};

/* --- category -------------------------------------------------------------------------------- */

enum { LEVELS = 0, RANK = 1, WEIGHT = 2, KAPPA = 3 };

static void category_pairs(const cri_job *job, size_t at, cri_tile tile, double *out)
{
    const cri_node *node = &job->k->nodes[at];
    size_t          rank = (size_t)node->setting[RANK];
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            size_t a = code_of(&job->a, job->k, node, tile.i0 + i, 0);
            size_t b =
                code_of(tile.diagonal ? &job->a : &job->b, job->k, node, other_row(tile, i, j), 0);
            double sum = a == b ? cri_value(job->k, node, KAPPA, a) : 0;
            for (size_t r = 0; r < rank; r++)
                sum += job->k->params[node->param[WEIGHT] + a * rank + r].value *
                       job->k->params[node->param[WEIGHT] + b * rank + r].value;
            out[i * tile.nj + j] = sum;
        }
}

/* Of kappa[e], or of w[level][r] with e = level * rank + r. */
static void category_partial(const cri_job *job, size_t at, size_t s, size_t e, cri_tile tile,
                             const double *v, double *out)
{
    const cri_node *node = &job->k->nodes[at];
    size_t          rank = (size_t)node->setting[RANK];
    bool            one = node->n_values[s] == 1;
    (void)v;
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            size_t a = code_of(&job->a, job->k, node, tile.i0 + i, 0);
            size_t b =
                code_of(tile.diagonal ? &job->a : &job->b, job->k, node, other_row(tile, i, j), 0);
            double sum = 0;
            if (s == KAPPA)
                sum = a == b && (one || a == e) ? 1 : 0;
            else {
                size_t level = e / rank, r = e % rank;
                if (a == level) sum += job->k->params[node->param[WEIGHT] + b * rank + r].value;
                if (b == level) sum += job->k->params[node->param[WEIGHT] + a * rank + r].value;
            }
            out[i * tile.nj + j] = sum;
        }
}

static const cri_spec category_specs[] = {
    CRI_GIVEN("levels", NULL, "2", "1..1000",
              "number of levels of the column, which are in byte order: 10 before 9, A before a", 2,
              1, 1000, false),
    CRI_GIVEN("rank", NULL, "1", "1..100", "columns of w", 1, 1, 100, false),
    CRI_LEARNED("w", NULL, "1", "",
                "factors of the levels in their order, [levels x rank] row by row", CRI_LINK,
                CRI_REAL, 1),
    CRI_LEARNED("kappa", NULL, "1", ">0", "own variances of the levels in their order, [levels]",
                CRI_LINK, CRI_LOG, 1),
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_category = {
    .name = "category",
    .aliases = "coregion",
    .summary = "a covariance between the levels of one category, of low rank and a diagonal",
    .formula = "k(x, y) = (w w^T + diag(kappa))[x, y]",
    .reference =
        "Alvarez, Rosasco & Lawrence (2012), Kernels for vector-valued functions, sec. 4.2",
    .example = "category(colour; levels=3, rank=1)",
    .specs = category_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_CATEGORY,
    .one_column = true,
    .pairs = category_pairs,
    .pairs_partial = category_partial,
};

/* mmd.c -- maximum mean discrepancy of two tables. */
#include "mmd.h"
#include "base/context_internal.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "data/design/design_internal.h"
#include "data/table/table_internal.h"
#include "math/dense/dense.h"
#include "math/kernel/kernel_internal.h"
#include "math/special/special.h"
#include "models/kernel/default_kernel.h"

#include <math.h>
#include <string.h>

enum { ORDERS = 64, PAIRS = 32 }; /* relabellings at a time; pairs at a time */

/* --- both tables together -------------------------------------------------------------------- */

/* All rows with all their values: first those of a, then those of b. */
typedef struct pooled {
    size_t          n, m; /* rows; of them, of the first table */
    double         *X;
    uint32_t       *codes;
    cr_kernel_input in;
    cr_kernel      *kernel;
} pooled;

static cr_status pool_numbers(cr_ctx *cx, const cr_column *const c[2], const size_t rows[2],
                              cr_table *t)
{
    double *v = cr_alloc(cx, rows[0] + rows[1], sizeof *v), *at = v;
    if (!v) return CR_ENOMEM;
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < rows[side]; i++) *at++ = c[side]->values[i * c[side]->stride];
    return cri_table_own_numbers(cx, t, c[0]->name, CR_REAL, v);
}

static cr_status pool_texts(cr_ctx *cx, const cr_column *const c[2], const size_t rows[2],
                            cr_table *t)
{
    const char **text = cr_alloc(cx, rows[0] + rows[1], sizeof *text), **at = text;
    if (!text) return CR_ENOMEM;
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < rows[side]; i++) {
            uint32_t code = c[side]->codes[i];
            *at++ = code == CR_MISSING_CODE ? NULL : c[side]->levels[code];
        }
    cr_status st = cr_table_add_texts(cx, t, c[0]->name, text);
    cr_free(cx, text, rows[0] + rows[1], sizeof *text);
    return st;
}

static cr_status pool_tables(cr_ctx *cx, const cr_table *const t[2], const char *const *columns,
                             size_t n, cr_table **out)
{
    cr_status    st = CR_OK;
    cr_table    *all = NULL;
    const size_t rows[2] = { cr_table_rows(t[0]), cr_table_rows(t[1]) };
    CR_TRY(cr_table_new(cx, cr_table_source(t[0]), rows[0] + rows[1], &all));
    for (size_t j = 0; j < n; j++) {
        const cr_column *c[2] = { cr_table_find(t[0], columns[j]),
                                  cr_table_find(t[1], columns[j]) };
        for (size_t side = 0; side < 2; side++)
            if (!c[side]) CR_TRY(cri_table_no_column(cx, t[side], columns[j]));
        if ((c[0]->type == CR_CATEGORY) != (c[1]->type == CR_CATEGORY))
            CR_TRY(cr_fail(cx, CR_EDATA,
                           "the column '%s' has numbers in one file and categories in the other",
                           columns[j]));
        CR_TRY(c[0]->type == CR_CATEGORY ? pool_texts(cx, c, rows, all)
                                         : pool_numbers(cx, c, rows, all));
    }
    *out = all;
    all = NULL;
done:
    cr_table_free(cx, all);
    return st;
}

/* The design of all columns, rows with gaps left out. */
static cr_status design_of(cr_ctx *cx, const cr_table *all, bool standardise, cr_design **out)
{
    cr_status         st = CR_OK;
    cr_design_options o;
    cri_design_needs  needs = { .standardise = standardise, .coding = CRI_CODING_CODE };
    CR_TRY(cr_options_init(cx, cr_design_table, &o));
    st = cr_options_set(cx, cr_design_table, &o, "missing", "drop");
    if (st == CR_OK) st = cri_design_fit(cx, all, &o, &needs, out);
    cr_options_free(cx, cr_design_table, &o);
done:
    return st;
}

/* Fills *p, and the counts of *out, from rows seen through the design. */
static cr_status gather(cr_scratch *s, const cri_rows *rows, const size_t total[2],
                        const char *kernel, pooled *p, cr_mmd *out)
{
    cr_status   st = CR_OK;
    cr_ctx     *cx = s->cx;
    cri_gp_data distinct = { 0 };
    size_t      d, c;

    cri_gp_shape(rows->design, &d, &c);
    p->n = rows->n;
    for (size_t i = 0; i < rows->n; i++) p->m += (rows->index ? rows->index[i] : i) < total[0];
    for (size_t side = 0; side < 2; side++) {
        out->rows[side] = side == 0 ? p->m : p->n - p->m;
        out->dropped[side] = total[side] - out->rows[side];
        if (out->rows[side] < 2)
            CR_TRY(cr_fail(cx, CR_EDATA, "the %s file has %zu complete row%s; two are needed",
                           side == 0 ? "first" : "second", out->rows[side],
                           out->rows[side] == 1 ? "" : "s"));
    }
    double *workspace = cr_scratch_matrix(s, p->n, rows->p);
    p->X = cr_scratch_matrix(s, p->n, d);
    p->codes = cr_scratch_bytes(s, p->n * c, sizeof *p->codes);
    CR_TRY(s->status);
    cri_gp_split(rows, 0, p->n, workspace, p->X, p->codes);
    p->in = (cr_kernel_input){
        .rows = p->n, .numbers = cr_cmat_of(p->X, p->n, d), .codes = p->codes, .categories = c
    };
    CR_TRY(cri_inputs_add(cx, &distinct, rows));
    CR_TRY(cri_default_kernel(cx, kernel, rows->design, &distinct, 1,
                              "the distance of two means could be the root of a negative number",
                              &p->kernel));
    cr_kernel_print(p->kernel, out->kernel, sizeof out->kernel);
done:
    cri_gp_data_free(cx, &distinct);
    return st;
}

/* Numbers that do not suit the kernel are told by their own file. */
static cr_status check_values(cr_ctx *cx, const pooled *p, const cri_rows *rows,
                              const cr_table *const t[2])
{
    cri_kernel_fault f;
    if (!cri_kernel_find_fault(p->kernel, &p->in, &f)) return CR_OK;
    size_t row = rows->index ? rows->index[f.row] : f.row, first = cr_table_rows(t[0]);
    return row < first ? cri_gp_fail_value(cx, rows->design, t[0], row, &f)
                       : cri_gp_fail_value(cx, rows->design, t[1], row - first, &f);
}

/* --- all pairs ------------------------------------------------------------------------------- */

/* Sums over pairs of different rows, and the diagonal, from which all statistics come. */
typedef struct sums {
    size_t        n, m;
    const double *K;      /* [n x n], the diagonal 0                       */
    const double *row;    /* [n] sums of its rows                          */
    double        all;    /* sum of it all                                 */
    double        own[2]; /* sum of k(x, x) over either table, as they are */
} sums;

/* The unbiased statistic of a labelling: within = z^T K z, first = z . row, z the rows of the
 * first. */
static double unbiased(const sums *u, double within, double first)
{
    double m = (double)u->m, n = (double)(u->n - u->m), between = first - within;
    double rest = u->all - within - 2 * between;
    return within / (m * (m - 1)) + rest / (n * (n - 1)) - 2 * between / (m * n);
}

/* The statistics of `count` labellings Z [n x count]; KZ is workspace. */
static cr_status judge(cr_ctx *cx, const sums *u, const double *Z, size_t count, double *KZ,
                       double *out)
{
    cr_status st = cr_gemm(cx, 1, cr_cmat_of(u->K, u->n, u->n), CR_PLAIN,
                           cr_cmat_of(Z, u->n, count), CR_PLAIN, 0, cr_mat_of(KZ, u->n, count));
    if (st != CR_OK) return st;
    for (size_t c = 0; c < count; c++) {
        double within = 0, first = 0;
        for (size_t i = 0; i < u->n; i++) {
            within += Z[i * count + c] * KZ[i * count + c];
            first += Z[i * count + c] * u->row[i];
        }
        out[c] = unbiased(u, within, first);
    }
    return CR_OK;
}

/* How many ways to choose m of n; SIZE_MAX for more than `most`. */
static size_t ways(size_t n, size_t m, size_t most)
{
    double count = 1;
    for (size_t i = 1; i <= m; i++) {
        count *= (double)(n - m + i) / (double)i;
        if (count > 2 * (double)most + 2) return SIZE_MAX; /* it only grows, up to rounding */
    }
    return (size_t)llround(count) <= most ? (size_t)llround(count) : SIZE_MAX;
}

/* The next choice of m of n in order; at [m] ascending. */
static void next_choice(size_t *at, size_t m, size_t n)
{
    size_t i = m;
    while (i > 0 && at[i - 1] == n - m + i - 1) i--;
    if (i == 0) return;
    at[i - 1]++;
    for (size_t k = i; k < m; k++) at[k] = at[k - 1] + 1;
}

/* One labelling into column c of Z. */
static void label(const size_t *at, size_t m, size_t n, size_t count, size_t c, double *Z)
{
    for (size_t i = 0; i < n; i++) Z[i * count + c] = 0;
    for (size_t i = 0; i < m; i++) Z[at[i] * count + c] = 1;
}

static cr_status relabel(cr_scratch *s, const sums *u, size_t asked, uint64_t seed, cr_mmd *out)
{
    cr_status st = CR_OK;
    cr_ctx   *cx = s->cx;
    size_t    all = ways(u->n, u->m, asked), total = all == SIZE_MAX ? asked : all, reached = 0;
    size_t   *at = cr_scratch_index(s, u->n);
    double   *Z = cr_scratch_matrix(s, u->n, ORDERS), *KZ = cr_scratch_matrix(s, u->n, ORDERS);
    double n = (double)u->n, got[ORDERS]; /* ties are equal up to the rounding of the means of K */
    double slack = 1e-12 * (fabs(u->all) + fabs(u->own[0]) + fabs(u->own[1])) / n / n;

    CR_TRY(s->status);
    out->exact = all != SIZE_MAX;
    out->permutations = total;
    for (size_t i = 0; i < u->m; i++) at[i] = i;
    for (size_t done = 0; done < total;) {
        size_t count = total - done < ORDERS ? total - done : ORDERS;
        for (size_t c = 0; c < count; c++) {
            if (out->exact) {
                label(at, u->m, u->n, count, c, Z);
                next_choice(at, u->m, u->n);
            } else {
                cr_rng r = cr_rng_stream(seed, done + c);
                cr_rng_permutation(&r, u->n, at);
                label(at, u->m, u->n, count, c, Z);
            }
        }
        CR_TRY(judge(cx, u, Z, count, KZ, got));
        for (size_t c = 0; c < count; c++) reached += got[c] >= out->unbiased - slack;
        done += count;
        cr_progress(cx, "permutations", (double)done, (double)total);
        CR_TRY(cr_check_interrupt(cx));
    }
    out->p =
        out->exact ? (double)reached / (double)total : ((double)reached + 1) / ((double)total + 1);
    out->p_se = out->exact ? 0 : sqrt(out->p * (1 - out->p) / (double)total);
done:
    return st;
}

static cr_status all_pairs(cr_scratch *s, const pooled *p, const cr_mmd_options *o, uint64_t seed,
                           cr_mmd *out)
{
    cr_status st = CR_OK;
    size_t    n = p->n;
    sums      u = { .n = n, .m = p->m };
    double   *K, *row = cr_scratch_f64(s, n), within = 0, first = 0;

    if (8.8 * (double)n * (double)n > (double)cri_memory_left(s->cx)) {
        cr_fail(s->cx, CR_ENOMEM, "the kernel of %zu rows with each other needs %.3g GB", n,
                8e-9 * (double)n * (double)n);
        CR_TRY(cr_fail_hint(s->cx, "--linear uses each row in one pair only"));
    }
    K = cr_scratch_matrix(s, n, n);
    CR_TRY(s->status);
    CR_TRY(cr_kernel_cross(s->cx, p->kernel, &p->in, &p->in, cr_mat_of(K, n, n)));
    for (size_t i = 0; i < n; i++) {
        u.own[i >= p->m] += K[i * n + i];
        K[i * n + i] = 0;
        row[i] = 0;
        for (size_t j = 0; j < n; j++) row[i] += K[i * n + j];
        u.all += row[i];
        for (size_t j = 0; i < p->m && j < p->m; j++) within += K[i * n + j];
        if (i < p->m) first += row[i];
    }
    u.K = K, u.row = row;
    double a = (double)p->m, b = (double)(n - p->m), between = first - within;
    double rest = u.all - within - 2 * between;
    out->unbiased = unbiased(&u, within, first);
    out->biased = fmax(0, (within + u.own[0]) / (a * a) + (rest + u.own[1]) / (b * b) -
                              2 * between / (a * b));
    out->se = NAN;
    CR_TRY(relabel(s, &u, o->permutations, seed, out));
done:
    return st;
}

/* --- pairs, each once ------------------------------------------------------------------------ */

static cr_kernel_input rows_of(const pooled *p, double *X, uint32_t *codes, const size_t *which,
                               size_t count)
{
    size_t d = p->in.numbers.cols, c = p->in.categories;
    for (size_t i = 0; i < count; i++) {
        if (d) memcpy(X + i * d, p->X + which[i] * d, d * sizeof *X);
        if (c) memcpy(codes + i * c, p->codes + which[i] * c, c * sizeof *codes);
    }
    return (cr_kernel_input){
        .rows = count, .numbers = cr_cmat_of(X, count, d), .codes = codes, .categories = c
    };
}

/* Adds sign * k(a_i, b_i) to h[i]; workspace [PAIRS x PAIRS]. */
static cr_status add_pairs(cr_ctx *cx, const pooled *p, const cr_kernel_input *a,
                           const cr_kernel_input *b, double sign, double *workspace, double *h)
{
    size_t    n = a->rows;
    cr_status st = cr_kernel_cross(cx, p->kernel, a, b, cr_mat_of(workspace, n, n));
    for (size_t i = 0; st == CR_OK && i < n; i++) h[i] += sign * workspace[i * n + i];
    return st;
}

static cr_status separate_pairs(cr_scratch *s, const pooled *p, uint64_t seed, cr_mmd *out)
{
    cr_status       st = CR_OK;
    size_t          n[2] = { p->m, p->n - p->m }, pairs = (n[0] < n[1] ? n[0] : n[1]) / 2;
    size_t          d = p->in.numbers.cols, c = p->in.categories, *order[2];
    double         *X[4], workspace[PAIRS * PAIRS], mean = 0, square = 0;
    uint32_t       *codes[4];
    cr_kernel_input in[4]; /* x1, x2, y1, y2 */

    for (size_t k = 0; k < 4; k++) {
        X[k] = cr_scratch_matrix(s, PAIRS, d);
        codes[k] = cr_scratch_bytes(s, PAIRS * c, sizeof *codes[k]);
    }
    for (size_t side = 0; side < 2; side++) order[side] = cr_scratch_index(s, n[side]);
    CR_TRY(s->status);
    for (size_t side = 0; side < 2; side++) { /* whatever order the files have */
        cr_rng r = cr_rng_stream(seed, side);
        cr_rng_permutation(&r, n[side], order[side]);
        for (size_t i = 0; side && i < n[1]; i++) order[1][i] += p->m;
    }
    for (size_t begin = 0; begin < pairs; begin += PAIRS) {
        size_t count = pairs - begin < PAIRS ? pairs - begin : PAIRS;
        double h[PAIRS] = { 0 };
        for (size_t k = 0; k < 4; k++)
            in[k] = rows_of(p, X[k], codes[k], order[k / 2] + begin + (k % 2) * pairs, count);
        CR_TRY(add_pairs(s->cx, p, &in[0], &in[1], 1, workspace, h));
        CR_TRY(add_pairs(s->cx, p, &in[2], &in[3], 1, workspace, h));
        CR_TRY(add_pairs(s->cx, p, &in[0], &in[3], -1, workspace, h));
        CR_TRY(add_pairs(s->cx, p, &in[1], &in[2], -1, workspace, h));
        for (size_t i = 0; i < count; i++) {
            double step = h[i] - mean;
            mean += step / (double)(begin + i + 1);
            square += step * (h[i] - mean);
        }
        if (begin % (256 * PAIRS) == 0) CR_TRY(cr_check_interrupt(s->cx));
    }
    out->pairs = pairs;
    out->unbiased = mean;
    out->biased = NAN;
    out->se = pairs > 1 ? sqrt(square / (double)(pairs - 1) / (double)pairs) : NAN;
    out->p = out->se > 0 ? cr_norm_cdf(-mean / out->se) : NAN;
    out->p_se = NAN;
done:
    return st;
}

/* --- the door -------------------------------------------------------------------------------- */

cr_status cr_table_mmd(cr_ctx *cx, const cr_table *a, const cr_table *b, const char *const *columns,
                       size_t n, const cr_mmd_options *o, uint64_t seed, cr_mmd *out)
{
    cr_status             st = CR_OK;
    cr_scratch            s = cr_scratch_begin(cx);
    const cr_table *const t[2] = { a, b };
    const size_t          total[2] = { cr_table_rows(a), cr_table_rows(b) };
    cr_table             *all = NULL;
    cr_design            *design = NULL;
    cri_rows              rows = { 0 };
    pooled                p = { 0 };
    cr_mmd                mmd = { 0 };

    if (n == 0) CR_TRY(cr_fail(cx, CR_EARG, "there is no column to compare"));
    CR_TRY(pool_tables(cx, t, columns, n, &all));
    CR_TRY(design_of(cx, all, o->kernel == NULL, &design));
    CR_TRY(cri_rows_open(cx, design, all, CRI_TARGET_NONE, &rows));
    CR_TRY(gather(&s, &rows, total, o->kernel, &p, &mmd));
    CR_TRY(check_values(cx, &p, &rows, t));
    CR_TRY(o->linear ? separate_pairs(&s, &p, seed, &mmd) : all_pairs(&s, &p, o, seed, &mmd));
    *out = mmd;
done:
    cr_kernel_free(cx, p.kernel);
    cri_rows_close(cx, &rows);
    cri_design_free(cx, design);
    cr_table_free(cx, all);
    cr_scratch_end(&s);
    return st;
}

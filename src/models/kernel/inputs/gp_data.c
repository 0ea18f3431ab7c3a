/* gp_data.c -- rows of a table merged into distinct inputs. */
#include "gp_data.h"
#include "base/rng.h"
#include "base/scratch.h"
#include "base/sort.h"

#include <math.h>
#include <string.h>

void cri_gp_shape(const cr_design *design, size_t *out_numbers, size_t *out_categories)
{
    *out_numbers = *out_categories = 0;
    for (size_t j = 0; j < design->p; j++)
        ++*(cri_design_is_code(design, j) ? out_categories : out_numbers);
}

size_t cri_gp_codes(const cr_design *design, size_t k)
{
    for (size_t j = 0; j < design->n_terms; j++)
        if (design->terms[j].code && k-- == 0)
            return cri_design_known(&design->columns[design->terms[j].column]);
    return 0;
}

void cri_gp_split(const cri_rows *rows, size_t begin, size_t end, double *workspace, double *X,
                  uint32_t *codes)
{
    const cr_design *design = rows->design;
    size_t           p = rows->p;
    cri_rows_fill(rows, begin, end, workspace, p);
    for (size_t i = 0; i < end - begin; i++)
        for (size_t j = 0; j < p; j++) {
            double x = workspace[i * p + j];
            if (cri_design_is_code(design, j))
                *codes++ = (uint32_t)x;
            else
                *X++ = x == 0 ? 0 : x; /* -0 is 0 */
        }
}

cri_gp_data cri_gp_data_view(const cri_gp_data *a, size_t begin, size_t end)
{
    return (cri_gp_data){ .n = end - begin,
                          .d = a->d,
                          .c = a->c,
                          .X = a->X ? a->X + begin * a->d : NULL,
                          .codes = a->codes ? a->codes + begin * a->c : NULL,
                          .y = a->y ? a->y + begin : NULL,
                          .r = a->r ? a->r + begin : NULL,
                          .w = a->w ? a->w + begin : NULL };
}

cr_status cri_gp_data_pick(cr_scratch *s, const cri_gp_data *data, const size_t *index, size_t m,
                           cri_gp_data *out)
{
    size_t d = data->d, c = data->c;
    *out = (cri_gp_data){ .n = m,
                          .d = d,
                          .c = c,
                          .X = cr_scratch_matrix(s, m, d),
                          .codes = cr_scratch_bytes(s, m * c, sizeof(uint32_t)) };
    for (size_t i = 0; s->status == CR_OK && i < m; i++) {
        if (d) memcpy(out->X + i * d, data->X + index[i] * d, d * sizeof(double));
        if (c) memcpy(out->codes + i * c, data->codes + index[i] * c, c * sizeof(uint32_t));
    }
    return s->status;
}

cr_kernel_input cri_gp_inputs(const cri_gp_data *data)
{
    return (cr_kernel_input){ .rows = data->n,
                              .numbers = cr_cmat_of(data->X, data->n, data->d),
                              .codes = data->codes,
                              .categories = data->c };
}

/* --- memory ---------------------------------------------------------------------------------- */

void cri_gp_data_free(cr_ctx *cx, cri_gp_data *a)
{
    cr_free(cx, a->X, a->n * a->d, sizeof(double));
    cr_free(cx, a->codes, a->n * a->c, sizeof(uint32_t));
    cr_free(cx, a->y, a->n, sizeof(double));
    cr_free(cx, a->r, a->n, sizeof(double));
    cr_free(cx, a->first, a->n, sizeof(size_t));
    cr_free(cx, a->w, a->n, sizeof(double));
    *a = (cri_gp_data){ 0 };
}

cr_status cri_gp_data_new(cr_ctx *cx, size_t n, size_t d, size_t c, cri_gp_data *out)
{
    *out = (cri_gp_data){ .n = n,
                          .d = d,
                          .c = c,
                          .X = cr_alloc(cx, n * d, sizeof(double)),
                          .codes = cr_alloc(cx, n * c, sizeof(uint32_t)),
                          .y = cr_alloc(cx, n, sizeof(double)),
                          .r = cr_alloc(cx, n, sizeof(double)),
                          .first = cr_alloc(cx, n, sizeof(size_t)) };
    if (out->X && out->codes && out->y && out->r && out->first) return CR_OK;
    cri_gp_data_free(cx, out);
    return CR_ENOMEM;
}

static void copy_input(const cri_gp_data *from, size_t i, cri_gp_data *to, size_t k)
{
    for (size_t j = 0; j < from->d; j++) to->X[k * to->d + j] = from->X[i * from->d + j];
    for (size_t j = 0; j < from->c; j++) to->codes[k * to->c + j] = from->codes[i * from->c + j];
    to->y[k] = from->y[i];
    to->r[k] = from->r[i];
    to->first[k] = from->first[i];
    if (to->w) to->w[k] = from->w[i];
}

cr_status cri_gp_data_copy(cr_ctx *cx, const cri_gp_data *data, cri_gp_data *out)
{
    cri_gp_data copy;
    cr_status   st = cri_gp_data_new(cx, data->n, data->d, data->c, &copy);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < data->n; i++) copy_input(data, i, &copy, i);
    copy.count = data->count;
    copy.spread = data->spread;
    copy.log_shares = data->log_shares;
    *out = copy;
    return CR_OK;
}

void cri_gp_data_sds(const cri_gp_data *a, double *out)
{
    for (size_t j = 0; j < a->d; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < a->n; i++) {
            double delta = a->X[i * a->d + j] - mean;
            mean += delta / (double)(i + 1);
            square += delta * (a->X[i * a->d + j] - mean);
        }
        out[j] = square > 0 ? sqrt(square / (double)a->n) : 1;
    }
}

double cri_gp_data_mean(const cri_gp_data *data)
{
    double sum = 0, weight = 0;
    for (size_t i = 0; i < data->n; i++) sum += data->y[i] / data->r[i], weight += 1 / data->r[i];
    return weight > 0 ? sum / weight : 0;
}

void cri_gp_data_shift(cri_gp_data *data, double shift)
{
    for (size_t i = 0; i < data->n; i++) data->y[i] -= shift;
}

cr_status cri_gp_data_draw(cr_ctx *cx, const cri_gp_data *data, size_t m, uint64_t seed,
                           cri_gp_data *out)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t     *chosen = cr_scratch_index(&s, m);
    cr_rng      rng = cr_rng_stream(seed, 0);
    cri_gp_data part;

    CR_TRY(s.status);
    CR_TRY(cri_gp_data_new(cx, m, data->d, data->c, &part));
    cr_rng_choose(&rng, data->n, m, chosen);
    cri_sort_indices(chosen, m);
    for (size_t k = 0; k < m; k++) copy_input(data, chosen[k], &part, k);
    double share = (double)m / (double)data->n;
    part.count = (double)m + share * (data->count - (double)data->n);
    part.spread = share * data->spread;
    *out = part;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- merging --------------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < size; i++) h = (h ^ b[i]) * 1099511628211u;
    return h;
}

static uint64_t hash_input(const cri_gp_data *a, size_t i)
{
    uint64_t h = hash_bytes(14695981039346656037u, a->X + i * a->d, a->d * sizeof(double));
    return hash_bytes(h, a->codes + i * a->c, a->c * sizeof(uint32_t));
}

static bool same_input(const cri_gp_data *a, size_t i, size_t k)
{
    return memcmp(a->X + i * a->d, a->X + k * a->d, a->d * sizeof(double)) == 0 &&
           memcmp(a->codes + i * a->c, a->codes + k * a->c, a->c * sizeof(uint32_t)) == 0;
}

/* Inputs by their hash; open addressing, slots a power of two, SIZE_MAX where free. */
typedef struct input_table {
    size_t *slot, mask;
} input_table;

/* The input equal to number i that came before it, or i itself, which is then remembered. */
static size_t find_input(const cri_gp_data *a, const input_table *t, size_t i)
{
    size_t at = (size_t)(hash_input(a, i) ^ hash_input(a, i) >> 29) & t->mask;
    for (; t->slot[at] != SIZE_MAX; at = (at + 1) & t->mask)
        if (same_input(a, t->slot[at], i)) return t->slot[at];
    t->slot[at] = i;
    return i;
}

/* Input g takes in y with precision p (relative to the noise). */
static void take_in(cri_gp_data *a, size_t g, double y, double p)
{
    double before = a->r[g] > 0 ? 1 / a->r[g] : 0, delta = y - a->y[g];
    a->y[g] += p / (before + p) * delta;
    a->spread += before > 0 ? p * delta * (y - a->y[g]) : 0;
    a->r[g] = 1 / (before + p);
}

static cr_status add_rows(cr_ctx *cx, cri_gp_data *a, size_t n, const cri_rows *rows,
                          const double *shares, const input_table *opt_table, size_t *opt_group,
                          size_t *out_n)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *workspace = cr_scratch_f64(&s, rows->p);

    CR_TRY(s.status);
    for (size_t i = 0; opt_table && i < n; i++) find_input(a, opt_table, i);
    for (size_t i = 0; i < rows->n; i++) {
        double w = rows->w ? rows->w[i] : 1, v = shares ? shares[i] : 1;
        if (!(w > 0)) continue;
        cri_gp_split(rows, i, i + 1, workspace, a->X + n * a->d, a->codes + n * a->c);
        size_t g = opt_table ? find_input(a, opt_table, n) : n;
        if (g == n) {
            a->y[n] = a->r[n] = 0;
            if (a->w) a->w[n] = w;
            a->first[n++] = rows->index ? rows->index[i] : i;
        }
        if (opt_group) opt_group[i] = g;
        take_in(a, g, rows->y[i], w / v);
        a->count += w;
        a->log_shares += w * log(v);
        if (i % 4096 == 0) CR_TRY(cr_check_interrupt(cx));
    }
    *out_n = n;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- order ----------------------------------------------------------------------------------- */

typedef struct placed_input {
    const cri_gp_data *data;
    size_t             at;
} placed_input;

static int compare_numbers(double x, double y) { return (x > y) - (x < y); }

/* By the numbers, the codes and, for equal inputs that are not merged, what was seen there. */
static int compare_inputs(const void *left, const void *right)
{
    const placed_input *x = left, *y = right;
    const cri_gp_data  *a = x->data;
    const double       *X = a->X + x->at * a->d, *Y = a->X + y->at * a->d;
    const uint32_t     *P = a->codes + x->at * a->c, *Q = a->codes + y->at * a->c;
    for (size_t j = 0; j < a->d; j++)
        if (X[j] != Y[j]) return compare_numbers(X[j], Y[j]);
    for (size_t j = 0; j < a->c; j++)
        if (P[j] != Q[j]) return P[j] < Q[j] ? -1 : 1;
    int order = compare_numbers(a->y[x->at], a->y[y->at]);
    return order ? order : compare_numbers(a->r[x->at], a->r[y->at]);
}

/* Inputs [begin, n) of `all` after the others in rising order; group [rows] follows them. */
static cr_status sort_inputs(cr_ctx *cx, const cri_gp_data *all, size_t begin, size_t n,
                             const cri_rows *rows, size_t *opt_group, cri_gp_data *out)
{
    cr_status     st = CR_OK;
    cr_scratch    s = cr_scratch_begin(cx);
    placed_input *order = cr_scratch_bytes(&s, n, sizeof *order);
    size_t       *place = cr_scratch_index(&s, n);

    CR_TRY(s.status);
    for (size_t i = 0; i < n; i++) order[i] = (placed_input){ all, i };
    qsort(order + begin, n - begin, sizeof *order, compare_inputs);
    for (size_t k = 0; k < n; k++) {
        copy_input(all, order[k].at, out, k);
        place[order[k].at] = k;
    }
    for (size_t i = 0; opt_group && i < rows->n; i++)
        if (!rows->w || rows->w[i] > 0) opt_group[i] = place[opt_group[i]];
done:
    cr_scratch_end(&s);
    return st;
}

/* Room for the weights of rows that are not merged. */
static cr_status keep_weights(cr_ctx *cx, cri_gp_data *a)
{
    a->w = cr_alloc(cx, a->n, sizeof(double));
    return a->w ? CR_OK : CR_ENOMEM;
}

/* The sizes beyond which squares of numbers overflow, or vanish. */
static const double LARGEST = 1e150, SMALLEST = 1e-150;

/* The greatest of n numbers, each `stride` from the next. */
static double greatest(const double *x, size_t n, size_t stride)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i * stride]));
    return most;
}

static cr_status refuse_size(cr_ctx *cx, const char *what, const char *name, double most,
                             const char *option)
{
    cr_fail(cx, CR_EDATA, "the largest value of %s '%s' is %g: %s the range of numbers", what, name,
            most, most > 1 ? "its squares are beyond" : "its squares are below");
    return cr_fail_hint(cx, "%s standard, or another unit", option);
}

/* Distances and variances are of squares. */
static cr_status check_sizes(cr_ctx *cx, const cri_gp_data *a, const cr_design *design)
{
    double most = greatest(a->y, a->n, 1);
    if (most > LARGEST || (most > 0 && most < SMALLEST))
        return refuse_size(cx, "the target", design->target.name, most, "--scale-target");
    for (size_t j = 0, number = 0; j < design->p; j++) {
        if (cri_design_is_code(design, j)) continue;
        most = greatest(a->X + number++, a->n, a->d);
        if ((most > LARGEST || (most > 0 && most < SMALLEST)) && j >= design->block.n)
            return refuse_size(cx, "the column", design->terms[j - design->block.n].name, most,
                               "--scale");
    }
    return CR_OK;
}

cr_status cri_gp_data_add(cr_ctx *cx, cri_gp_data *data, const cri_rows *rows,
                          const double *opt_shares, bool merge, size_t *opt_group)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(cx);
    size_t      d, c, most = data->n + rows->n, slots = 16, n = data->n;
    cri_gp_data all = { 0 }, trimmed = { 0 };
    input_table table = { 0 };
    bool        weights = !merge && n == 0;

    cri_gp_shape(rows->design, &d, &c);
    while (slots < 2 * most) slots *= 2;
    table = (input_table){ cr_scratch_index(&s, merge ? slots : 0), slots - 1 };
    CR_TRY(s.status);
    if (merge) memset(table.slot, 0xff, slots * sizeof *table.slot);
    CR_TRY(cri_gp_data_new(cx, most + 1, d, c, &all)); /* one more, to look at the next */
    if (weights) CR_TRY(keep_weights(cx, &all));
    for (size_t i = 0; i < n; i++) copy_input(data, i, &all, i);
    all.count = data->count;
    all.spread = data->spread;
    all.log_shares = data->log_shares;
    CR_TRY(add_rows(cx, &all, n, rows, opt_shares, merge ? &table : NULL, opt_group, &n));
    if (n == 0) CR_TRY(cr_fail(cx, CR_EDATA, "gp: all rows have weight 0"));
    CR_TRY(cri_gp_data_new(cx, n, d, c, &trimmed));
    if (weights) CR_TRY(keep_weights(cx, &trimmed));
    CR_TRY(sort_inputs(cx, &all, data->n, n, rows, opt_group, &trimmed));
    trimmed.count = all.count;
    trimmed.spread = all.spread;
    trimmed.log_shares = all.log_shares;
    CR_TRY(check_sizes(cx, &trimmed, rows->design));
    cri_gp_data_free(cx, data);
    *data = trimmed;
    trimmed = (cri_gp_data){ 0 };
done:
    cri_gp_data_free(cx, &trimmed);
    cri_gp_data_free(cx, &all);
    cr_scratch_end(&s);
    return st;
}

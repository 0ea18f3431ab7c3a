/* strings.c -- kernels of texts, byte by byte: spectrum, mismatch, subsequence.
 * Spectrum, mismatch and subsequence may be normalised: k(x, y) / sqrt(k(x, x) k(y, y)), and 0 where
 * a text is too short. */
#include "kernel_internal.h"
#include "../../base/context_internal.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Pieces of the texts of one set of rows: those of row i are piece[begin[i]] .. piece[begin[i+1]]. */
typedef struct pieces {
    size_t      *begin;  /* [rows + 1]                                  */
    const char **piece;  /* in order                                    */
} pieces;

static const char *text_of(const cri_side *side, const cr_kernel *k, const cri_node *node, size_t i)
{
    const char *text = cri_text_of(k, node, side->in, i);
    return text ? text : "";
}

typedef double text_fn(const cri_job *job, size_t node, const cri_side *a, size_t i,
                       const cri_side *b, size_t j);

static double normaliser(const cri_side *a, const cri_side *b, size_t node, size_t i, size_t j)
{
    double product = a->node[node].diagonal[i] * b->node[node].diagonal[j];
    return product > 0 ? 1 / sqrt(product) : 0;
}

static void fill(const cri_job *job, size_t node, cri_tile tile, text_fn *one, bool normalise,
                 double *out)
{
    const cri_side *b = tile.diagonal ? &job->a : &job->b;
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            size_t row = tile.i0 + i, col = tile.diagonal ? row : tile.j0 + j;
            double value = one(job, node, &job->a, row, b, col);
            if (normalise) value *= normaliser(&job->a, b, node, row, col);
            out[i * tile.nj + j] = value;
        }
}

/* Values of the texts with themselves, which normalising divides by. */
static void fill_own(const cri_job *job, size_t node, cri_side *side, text_fn *one)
{
    for (size_t i = 0; i < side->in->rows; i++)
        side->node[node].diagonal[i] = one(job, node, side, i, side, i);
}

/* --- pieces of one length: k-mers -------------------------------------------------------------- */

enum { K = 0, NORMALISE = 1, MISMATCHES = 2, ALPHABET = 3, LAMBDA = 2 };

typedef struct k_mer {
    const char *text;
    size_t      length;
} k_mer;

static int compare_k_mers(const void *a, const void *b)
{
    const k_mer *x = a, *y = b;
    return memcmp(x->text, y->text, x->length);
}

static size_t k_mers(size_t length, size_t k) { return length >= k ? length - k + 1 : 0; }

static cr_status cut_k_mers(cr_scratch *s, const cri_job *job, size_t at, cri_side *side)
{
    const cri_node *node = &job->k->nodes[at];
    size_t          k = (size_t)node->setting[K], rows = side->in->rows, total = 0, most = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t n = k_mers(strlen(text_of(side, job->k, node, i)), k);
        total += n, most = n > most ? n : most;
    }
    pieces  *p = cr_scratch_bytes(s, 1, sizeof *p);
    k_mer *sorted = cr_scratch_bytes(s, most, sizeof *sorted);
    size_t  *begin = cr_scratch_index(s, rows + 1);
    const char **piece = cr_scratch_bytes(s, total, sizeof *piece);
    side->node[at].diagonal = cr_scratch_f64(s, rows);
    if (s->status != CR_OK) return s->status;
    begin[0] = 0;
    for (size_t i = 0; i < rows; i++) {
        const char *text = text_of(side, job->k, node, i);
        size_t      n = k_mers(strlen(text), k);
        for (size_t q = 0; q < n; q++) sorted[q] = (k_mer){ text + q, k };
        qsort(sorted, n, sizeof *sorted, compare_k_mers);
        for (size_t q = 0; q < n; q++) piece[begin[i] + q] = sorted[q].text;
        begin[i + 1] = begin[i] + n;
    }
    *p = (pieces){ begin, piece };
    side->node[at].extra = p;
    return CR_OK;
}

/* sum over all k-mers u of count_x(u) count_y(u), by merging the sorted ones.  O(k (|x| + |y|)). */
static double spectrum_one(const cri_job *job, size_t node, const cri_side *a, size_t i,
                           const cri_side *b, size_t j)
{
    const pieces *p = a->node[node].extra, *q = b->node[node].extra;
    size_t        k = (size_t)job->k->nodes[node].setting[K];
    size_t        x = p->begin[i], x_end = p->begin[i + 1], y = q->begin[j], y_end = q->begin[j + 1];
    double        sum = 0;
    while (x < x_end && y < y_end) {
        const char *at = p->piece[x];
        int         order = memcmp(at, q->piece[y], k);
        if (order < 0) x++;
        else if (order > 0) y++;
        else {
            size_t n = 0, m = 0;
            while (x < x_end && memcmp(p->piece[x], at, k) == 0) x++, n++;
            while (y < y_end && memcmp(q->piece[y], at, k) == 0) y++, m++;
            sum += (double)n * (double)m;
        }
    }
    return sum;
}

static bool normalised(const cri_job *job, size_t node)
{
    return job->k->nodes[node].setting[NORMALISE] != 0;
}

static cr_status spectrum_prepare(cr_scratch *s, const cri_job *job, size_t node, cri_side *side)
{
    cr_status st = cut_k_mers(s, job, node, side);
    if (st == CR_OK && normalised(job, node)) fill_own(job, node, side, spectrum_one);
    return st;
}

static void spectrum_pairs(const cri_job *job, size_t node, cri_tile tile, double *out)
{
    fill(job, node, tile, spectrum_one, normalised(job, node), out);
}

#define K_SPEC(text)                                                                               \
    { { "k", NULL, "3", "1..50", text, false }, CRI_SETTING, CRI_REAL, 3, 1, 50, false }
#define NORMALISE_SPEC                                                                             \
    { { "normalise", "normalize", "0", "0..1", "1: divide by sqrt(k(x,x) k(y,y))", false },        \
      CRI_SETTING, CRI_REAL, 0, 0, 1, false }

static const cri_spec spectrum_specs[] = { K_SPEC("length of the pieces"), NORMALISE_SPEC,
                                           CRI_LAST_SPEC };

const cr_kernel_class cri_kernel_spectrum = {
    .name = "spectrum",
    .aliases = "",
    .summary = "texts: the pieces of k characters that they share",
    .formula = "k(x, y) = sum over texts u of length k of count_x(u) count_y(u)",
    .reference = "Leslie, Eskin & Noble (2002), The spectrum kernel",
    .example = "spectrum(dna; k=3)",
    .specs = spectrum_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_TEXT,
    .one_column = true,
    .pairs = spectrum_pairs,
    .prepare = spectrum_prepare,
};

/* --- mismatch ---------------------------------------------------------------------------------- */

static double choose(size_t n, size_t k)
{
    double out = 1;
    if (k > n) return 0;
    for (size_t i = 0; i < k; i++) out = out * (double)(n - i) / (double)(i + 1);
    return round(out);
}

/* The number of texts over an alphabet of A letters within m changes of both of two k-mers that differ
 * in h places.  Of those h places, i have the letter of the first, j that of the second, the others
 * neither; of the other k - h places, c are changed. */
static double common_neighbours(size_t k, size_t m, size_t A, size_t h)
{
    double sum = 0;
    for (size_t i = 0; i <= h; i++)
        for (size_t j = 0; i + j <= h; j++)
            for (size_t c = 0; c <= k - h; c++) {
                size_t to_first = h - i + c, to_second = h - j + c;
                if (to_first > m || to_second > m) continue;
                sum += choose(h, i) * choose(h - i, j) * pow((double)A - 2, (double)(h - i - j)) *
                       choose(k - h, c) * pow((double)A - 1, (double)c);
            }
    return sum;
}

typedef struct neighbours {
    pieces cut;
    double common[51]; /* by the number of places where two k-mers differ */
} neighbours;

static double mismatch_one(const cri_job *job, size_t node, const cri_side *a, size_t i,
                           const cri_side *b, size_t j)
{
    const neighbours *p = a->node[node].extra, *q = b->node[node].extra;
    size_t            k = (size_t)job->k->nodes[node].setting[K];
    size_t            most = 2 * (size_t)job->k->nodes[node].setting[MISMATCHES];
    double            sum = 0;
    for (size_t x = p->cut.begin[i]; x < p->cut.begin[i + 1]; x++)
        for (size_t y = q->cut.begin[j]; y < q->cut.begin[j + 1]; y++) {
            size_t h = 0;
            for (size_t c = 0; c < k && h <= most; c++) h += p->cut.piece[x][c] != q->cut.piece[y][c];
            if (h <= most) sum += p->common[h];
        }
    return sum;
}

static cr_status mismatch_prepare(cr_scratch *s, const cri_job *job, size_t at, cri_side *side)
{
    const cri_node *node = &job->k->nodes[at];
    cr_status       st = cut_k_mers(s, job, at, side);
    neighbours     *n = cr_scratch_bytes(s, 1, sizeof *n);
    if (st != CR_OK || !n) return s->status;
    n->cut = *(pieces *)side->node[at].extra;
    size_t k = (size_t)node->setting[K], m = (size_t)node->setting[MISMATCHES];
    for (size_t h = 0; h <= k && h <= 2 * m; h++)
        n->common[h] = common_neighbours(k, m, (size_t)node->setting[ALPHABET], h);
    side->node[at].extra = n;
    if (normalised(job, at)) fill_own(job, at, side, mismatch_one);
    return CR_OK;
}

static void mismatch_pairs(const cri_job *job, size_t node, cri_tile tile, double *out)
{
    fill(job, node, tile, mismatch_one, normalised(job, node), out);
}

static const cri_spec mismatch_specs[] = {
    K_SPEC("length of the pieces"),
    NORMALISE_SPEC,
    { { "m", NULL, "1", "0..50", "changes allowed in a piece", false }, CRI_SETTING, CRI_REAL, 1, 0, 50,
      false },
    { { "alphabet", NULL, "4", "2..256", "number of letters there are", false }, CRI_SETTING, CRI_REAL,
      4, 2, 256, false },
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_mismatch = {
    .name = "mismatch",
    .aliases = "",
    .summary = "texts: pieces of k characters that are alike up to m changes",
    .formula = "k(x, y) = sum over texts u of length k of n_x(u) n_y(u),\n"
               "n_x(u) = number of pieces of x that differ from u in m places at the most",
    .reference = "Leslie, Eskin, Cohen, Weston & Noble (2004), Bioinformatics 20(4)",
    .example = "mismatch(dna; k=4, m=1, alphabet=4)",
    .specs = mismatch_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_TEXT,
    .one_column = true,
    .pairs = mismatch_pairs,
    .prepare = mismatch_prepare,
};

/* --- subsequence ------------------------------------------------------------------------------- */

typedef struct value_slope {
    double v, d; /* a value and its derivative by lambda */
} value_slope;

static value_slope times(value_slope a, value_slope b)
{
    return (value_slope){ a.v * b.v, a.d * b.v + a.v * b.d };
}

static value_slope plus(value_slope a, value_slope b)
{
    return (value_slope){ a.v + b.v, a.d + b.d };
}

/* Lodhi et al. (2002), def. 2, over prefixes of s and t:
 *   K''_q(s x, t u) = lambda K''_q(s x, t) + [u = x] lambda^2 K'_{q-1}(s, t),
 *   K'_q(s x, t) = lambda K'_q(s, t) + K''_q(s x, t),   K'_0 = 1,
 *   K_k(s x, t) = K_k(s, t) + sum_{j: t_j = x} lambda^2 K'_{k-1}(s, t[..j-1]).
 * Going through s, only the rows of K' for the present prefix are kept: room [k x (|t| + 1)], and q
 * runs downwards so that K'_{q-1} is still that of the shorter prefix.  O(k |s| |t|). */
static value_slope gap_weighted(const char *s, const char *t, size_t k, double lambda,
                                value_slope *room)
{
    size_t            m = strlen(t);
    const value_slope l = { lambda, 1 }, l2 = { lambda * lambda, 2 * lambda };
    value_slope       sum = { 0, 0 };
    for (size_t i = 0; i < k * (m + 1); i++) room[i] = (value_slope){ i <= m ? 1 : 0, 0 };
    for (; *s; s++) {
        const value_slope *last = room + (k - 1) * (m + 1);
        for (size_t j = 1; j <= m; j++)
            if (*s == t[j - 1]) sum = plus(sum, times(l2, last[j - 1]));
        for (size_t q = k; q-- > 1;) {
            value_slope *row = room + q * (m + 1), *below = row - (m + 1), second = { 0, 0 };
            for (size_t j = 1; j <= m; j++) {
                second = times(l, second);
                if (*s == t[j - 1]) second = plus(second, times(l2, below[j - 1]));
                row[j] = plus(times(l, row[j]), second);
            }
        }
    }
    return sum;
}

/* Values of the texts with themselves and their derivatives, and the longest text. */
typedef struct own_values {
    value_slope *own; /* [rows] */
    size_t       longest;
} own_values;

static double decay(const cri_job *job, size_t node)
{
    return cri_value(job->k, &job->k->nodes[node], LAMBDA, 0);
}

static cr_status subsequence_prepare(cr_scratch *s, const cri_job *job, size_t at, cri_side *side)
{
    const cri_node *node = &job->k->nodes[at];
    size_t          k = (size_t)node->setting[K], rows = side->in->rows, longest = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t n = strlen(text_of(side, job->k, node, i));
        longest = n > longest ? n : longest;
    }
    own_values  *o = cr_scratch_bytes(s, 1, sizeof *o);
    value_slope *own = cr_scratch_bytes(s, rows, sizeof *own);
    value_slope *room = cr_scratch_bytes(s, k * (longest + 1), sizeof *room);
    if (s->status != CR_OK) return s->status;
    for (size_t i = 0; normalised(job, at) && i < rows; i++) {
        const char *text = text_of(side, job->k, node, i);
        own[i] = gap_weighted(text, text, k, decay(job, at), room);
    }
    *o = (own_values){ own, longest };
    side->node[at].extra = o;
    return CR_OK;
}

static value_slope normalise(value_slope k, value_slope x, value_slope y)
{
    if (!(x.v > 0 && y.v > 0)) return (value_slope){ 0, 0 };
    double v = k.v / sqrt(x.v * y.v), d = k.d / sqrt(x.v * y.v);
    return (value_slope){ v, d - 0.5 * v * (x.d / x.v + y.d / y.v) };
}

/* The values, or their derivatives by lambda. */
static void subsequence_fill(const cri_job *job, size_t at, cri_tile tile, bool slope, double *out)
{
    const cri_node   *node = &job->k->nodes[at];
    const cri_side   *b = tile.diagonal ? &job->a : &job->b;
    const own_values *x = job->a.node[at].extra, *y = b->node[at].extra;
    size_t            k = (size_t)node->setting[K], size = k * (y->longest + 1);
    value_slope      *room = cri_resize_quietly(job->cx, NULL, 0, size, sizeof *room);
    if (!room) {
        atomic_store(job->no_memory, true);
        memset(out, 0, tile.ni * tile.nj * sizeof *out);
        return;
    }
    for (size_t i = 0; i < tile.ni; i++)
        for (size_t j = 0; j < tile.nj; j++) {
            size_t      row = tile.i0 + i, col = tile.diagonal ? row : tile.j0 + j;
            value_slope value =
                gap_weighted(text_of(&job->a, job->k, node, row), text_of(b, job->k, node, col), k,
                             decay(job, at), room);
            if (normalised(job, at)) value = normalise(value, x->own[row], y->own[col]);
            out[i * tile.nj + j] = slope ? value.d : value.v;
        }
    cr_free(job->cx, room, size, sizeof *room);
}

static void subsequence_pairs(const cri_job *job, size_t node, cri_tile tile, double *out)
{
    subsequence_fill(job, node, tile, false, out);
}

static void subsequence_partial(const cri_job *job, size_t node, size_t s, size_t e, cri_tile tile,
                                const double *v, double *out)
{
    (void)s, (void)e, (void)v;
    subsequence_fill(job, node, tile, true, out);
}

static const cri_spec subsequence_specs[] = {
    K_SPEC("length of the subsequences"),
    NORMALISE_SPEC,
    { { "lambda", "decay", "0.5", "0<..<1", "weight of each character that a subsequence spans", true },
      CRI_LINK, CRI_LOGIT, 0.5, 0, 1, false },
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_subsequence = {
    .name = "subsequence",
    .aliases = "ssk",
    .summary = "texts: subsequences of k characters that they share, gaps weighing less",
    .formula = "k(x, y) = sum over u of length k, and its places i in x and j in y, of\n"
               "lambda^(span of i + span of j)",
    .reference = "Lodhi, Saunders, Shawe-Taylor, Cristianini & Watkins (2002), JMLR 2",
    .example = "subsequence(dna; k=3, lambda=0.5)",
    .specs = subsequence_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_TEXT,
    .one_column = true,
    .pairs = subsequence_pairs,
    .pairs_partial = subsequence_partial,
    .prepare = subsequence_prepare,
};

/* subsequence.c -- the gap-weighted subsequence kernel of texts, byte by byte.
 * Lodhi et al. (2002), def. 2, over prefixes of s and t:
 *   K''_q(s x, t u) = lambda K''_q(s x, t) + [u = x] lambda^2 K'_{q-1}(s, t),
 *   K'_q(s x, t) = lambda K'_q(s, t) + K''_q(s x, t),   K'_0 = 1,
 *   K_k(s x, t) = K_k(s, t) + sum_{j: t_j = x} lambda^2 K'_{k-1}(s, t[..j-1]).
 * Going through s, only the rows of K' for the present prefix are kept, and q runs downwards so
 * that K'_{q-1} is still that of the shorter prefix: O(k |s| |t|).  LANES texts t are gone through
 * at once, the shorter ones filled up with the zero byte, which equals no letter; each has the same
 * bits as alone.  Compiled twice as array.c is: without fused multiplication, so with the same
 * bits. */
#include "texts.h"
#include "base/context_internal.h"

#include <string.h>

enum { K = 0, NORMALISE = 1, LAMBDA = 2, LANES = 8 };

#if defined(__x86_64__) && defined(__GNUC__)
#define AVX2 __attribute__((target("avx2")))
#define HAS_AVX2() __builtin_cpu_supports("avx2")
#else
#define AVX2
#define HAS_AVX2() false
#endif
#define BODY static inline __attribute__((always_inline))

static bool normalised(const cri_node *node) { return node->setting[NORMALISE] != 0; }

/* Per lane: k rows of K' and as many of its derivative, and the letters, as numbers. */
static size_t workspace_size(size_t k, size_t longest)
{
    return LANES * (longest + 1) * (2 * k + 1);
}

static size_t subsequence_workspace_size(const cri_job *job, size_t node, const cri_texts *a,
                                         const cri_texts *b)
{
    (void)a;
    return workspace_size((size_t)job->k->nodes[node].setting[K], b->longest);
}

typedef struct lanes {
    size_t  m, k;            /* the longest t; the length of subsequences */
    double  lambda, *letter; /* [m + 1][LANES]                            */
    double *K1, *D1;         /* [k][m + 1][LANES] K' and its derivative   */
} lanes;

/* sum += lambda^2 K'_{k-1} where letters match: of all lanes. */
BODY void add_matches(const lanes *l, double x, double *sum, double *slope)
{
    const double  l2 = l->lambda * l->lambda, d2 = 2 * l->lambda;
    size_t        width = (l->m + 1) * LANES;
    const double *last = l->K1 + (l->k - 1) * width, *dlast = l->D1 + (l->k - 1) * width;
    for (size_t j = 0; j < l->m * LANES; j += LANES)
        for (size_t c = 0; c < LANES; c++) sum[c] += l->letter[j + c] == x ? l2 * last[j + c] : 0;
    for (size_t j = 0; slope && j < l->m * LANES; j += LANES)
        for (size_t c = 0; c < LANES; c++)
            slope[c] += l->letter[j + c] == x ? d2 * last[j + c] + l2 * dlast[j + c] : 0;
}

/* K'_q of the prefix that is longer by the letter x, from K'_{q-1} of the shorter one. */
BODY void advance_values(const lanes *l, double x, size_t q)
{
    const double l1 = l->lambda, l2 = l1 * l1;
    size_t       width = (l->m + 1) * LANES;
    double      *row = l->K1 + q * width, *below = row - width, second[LANES] = { 0 };
    for (size_t j = 0; j < l->m * LANES; j += LANES)
#pragma omp simd
        for (size_t c = 0; c < LANES; c++) {
            double match = l->letter[j + c] == x ? l2 : 0;
            second[c] = l1 * second[c] + match * below[j + c];
            row[j + LANES + c] = l1 * row[j + LANES + c] + second[c];
        }
}

/* The same with derivatives by lambda. */
BODY void advance_slopes(const lanes *l, double x, size_t q)
{
    const double l1 = l->lambda, l2 = l1 * l1, d2 = 2 * l1;
    size_t       width = (l->m + 1) * LANES;
    double      *row = l->K1 + q * width, *below = row - width, second[LANES] = { 0 };
    double      *drow = l->D1 + q * width, *dbelow = drow - width, dsecond[LANES] = { 0 };
    for (size_t j = 0; j < l->m * LANES; j += LANES)
#pragma omp simd
        for (size_t c = 0; c < LANES; c++) {
            double match = l->letter[j + c] == x ? 1 : 0;
            dsecond[c] =
                second[c] + l1 * dsecond[c] + match * (d2 * below[j + c] + l2 * dbelow[j + c]);
            second[c] = l1 * second[c] + match * l2 * below[j + c];
            drow[j + LANES + c] = row[j + LANES + c] + l1 * drow[j + LANES + c] + dsecond[c];
            row[j + LANES + c] = l1 * row[j + LANES + c] + second[c];
        }
}

/* The text s with n <= LANES texts t. */
BODY void compare_body(const char *s, const char *const *t, size_t n, size_t k, double lambda,
                       const cr_ctx *cx, double *workspace, double *values, double *slopes)
{
    lanes  l = { .k = k, .lambda = lambda };
    double sum[LANES] = { 0 }, slope[LANES] = { 0 };
    for (size_t c = 0; c < n; c++) {
        size_t length = strlen(t[c]);
        if (length > l.m) l.m = length;
    }
    size_t width = (l.m + 1) * LANES;
    l.letter = workspace, l.K1 = workspace + width, l.D1 = l.K1 + k * width;
    for (size_t e = 0; e < width; e++) workspace[e] = 0, l.K1[e] = 1;
    memset(l.K1 + width, 0, (k - 1) * width * sizeof *workspace);
    if (slopes) memset(l.D1, 0, k * width * sizeof *workspace);
    for (size_t c = 0; c < n; c++)
        for (size_t j = 0; t[c][j]; j++) l.letter[j * LANES + c] = (unsigned char)t[c][j];
    for (size_t i = 0; s[i]; i++) {
        double x = (unsigned char)s[i];
        if (i % 64 == 63 && cri_should_stop(cx)) break; /* which the caller finds out too */
        add_matches(&l, x, sum, slopes ? slope : NULL);
        for (size_t q = k; q-- > 1;) {
            if (slopes)
                advance_slopes(&l, x, q);
            else
                advance_values(&l, x, q);
        }
    }
    memcpy(values, sum, n * sizeof *sum);
    if (slopes) memcpy(slopes, slope, n * sizeof *slope);
}

AVX2 static void compare_avx2(const char *s, const char *const *t, size_t n, size_t k,
                              double lambda, const cr_ctx *cx, double *workspace, double *values,
                              double *slopes)
{
    compare_body(s, t, n, k, lambda, cx, workspace, values, slopes);
}

static void compare_plain(const char *s, const char *const *t, size_t n, size_t k, double lambda,
                          const cr_ctx *cx, double *workspace, double *values, double *slopes)
{
    compare_body(s, t, n, k, lambda, cx, workspace, values, slopes);
}

static void compare_texts(const char *s, const char *const *t, size_t n, size_t k, double lambda,
                          const cr_ctx *cx, double *workspace, double *values, double *slopes)
{
    (HAS_AVX2() ? compare_avx2 : compare_plain)(s, t, n, k, lambda, cx, workspace, values, slopes);
}

static double decay(const cri_job *job, size_t node)
{
    return cri_value(job->k, &job->k->nodes[node], LAMBDA, 0);
}

static void subsequence_row(const cri_job *job, size_t node, const cri_texts *a, const cri_texts *b,
                            size_t i, const size_t *j, size_t n, double *workspace, double *values,
                            double *slopes)
{
    const char *t[LANES];
    size_t      k = (size_t)job->k->nodes[node].setting[K];
    for (size_t from = 0; from < n; from += LANES) {
        size_t count = n - from < LANES ? n - from : LANES;
        for (size_t c = 0; c < count; c++) t[c] = b->text[j[from + c]];
        compare_texts(a->text[i], t, count, k, decay(job, node), job->cx, workspace, values + from,
                      slopes ? slopes + from : NULL);
    }
}

static cri_slope subsequence_own(const cri_job *job, size_t node, const cri_texts *t, size_t i,
                                 double *workspace)
{
    cri_slope out;
    compare_texts(t->text[i], &t->text[i], 1, (size_t)job->k->nodes[node].setting[K],
                  decay(job, node), job->cx, workspace, &out.v, &out.d);
    return out;
}

static const cri_text_kernel subsequence = { .workspace = subsequence_workspace_size,
                                             .row = subsequence_row,
                                             .own = subsequence_own,
                                             .normalised = normalised };

static const cri_spec subsequence_specs[] = {
    CRI_GIVEN("k", NULL, "3", "1..50", "length of the subsequences", 3, 1, 50, false),
    CRI_GIVEN("normalise", "normalize", "0", "0..1", "1: divide by sqrt(k(x,x) k(y,y))", 0, 0, 1,
              false),
    { { "lambda", "decay", "0.5", "0<..<1", "weight of each character that a subsequence spans",
        true },
      CRI_LINK,
      CRI_LOGIT,
      0.5,
      0,
      1,
      false },
    CRI_LAST_SPEC,
};

const cr_kernel_class cri_kernel_subsequence = {
    .name = "subsequence",
    .aliases = "ssk",
    .summary = "text: shared subsequences of k characters, with less weight for gaps",
    .formula = "k(x, y) = sum over u of length k, and its places i in x and j in y, of\n"
               "lambda^(span of i + span of j)",
    .reference = "Lodhi, Saunders, Shawe-Taylor, Cristianini & Watkins (2002), JMLR 2",
    .example = "subsequence(dna; k=3, lambda=0.5)",
    .specs = subsequence_specs,
    .family = CRI_PAIRS,
    .kind = CR_KERNEL_TEXT,
    .one_column = true,
    .pairs = cri_text_pairs,
    .pairs_partial = cri_text_partial,
    .prepare = cri_text_prepare,
    .join = cri_text_join,
    .text = &subsequence,
};

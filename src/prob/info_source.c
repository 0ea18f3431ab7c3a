/* info_source.c -- typical set and essential information content, by counting types. */
#include "info_source.h"
#include "info.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "math/special/special.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_TYPES = 1 << 22 };

/* All strings of one type. */
typedef struct type {
    double log_p;     /* of each of them   */
    double log_count; /* how many          */
    double mass;      /* of all together   */
} type;

/* Letters of equal probability together. */
typedef struct letter {
    double p, many;
} letter;

/* --- the source ------------------------------------------------------------------------------ */

static cr_status check_source(cr_ctx *cx, const double *p, size_t n, size_t length, double beta,
                              double delta)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(p[i] >= 0)) return cr_fail(cx, CR_EARG, "source: %g is not a probability", p[i]);
        sum += p[i];
    }
    if (!(fabs(sum - 1) <= 1e-9))
        return cr_fail(cx, CR_EARG, "source: the probabilities sum to %.10g, expected 1", sum);
    if (length == 0) return cr_fail(cx, CR_EARG, "source: strings of no letters");
    if (!(beta > 0)) return cr_fail(cx, CR_EARG, "source: beta is %g, expected more than 0", beta);
    if (!(delta >= 0 && delta < 1))
        return cr_fail(cx, CR_EARG, "source: delta is %g, expected 0 <= delta < 1", delta);
    return CR_OK;
}

CRI_COMPARE_BY(compare_letters, letter, p);

/* Sorts the letters and puts equal ones together; those that never come are dropped. */
static size_t gather_letters(const double *p, size_t n, letter *out)
{
    size_t k = 0, used = 0;
    for (size_t i = 0; i < n; i++)
        if (p[i] > 0) out[used++] = (letter){ p[i], 1 };
    qsort(out, used, sizeof *out, compare_letters);
    for (size_t i = 0; i < used; i++) {
        if (k > 0 && out[i].p == out[k - 1].p)
            out[k - 1].many++;
        else
            out[k++] = out[i];
    }
    return k;
}

static cr_status count_types(cr_ctx *cx, size_t length, size_t k, size_t *out)
{
    double log_types = cr_lchoose((double)length + (double)k - 1, (double)k - 1);
    if (log_types > log(MOST_TYPES)) {
        cr_fail(cx, CR_EARG,
                "source: %zu letters from %zu different probabilities make %.3g types, but at most "
                "%d are counted",
                length, k, exp(log_types), MOST_TYPES);
        return cr_fail_hint(cx, "use shorter strings, or merge rare letters");
    }
    *out = (size_t)(exp(log_types) + 0.5);
    return CR_OK;
}

/* --- the types ------------------------------------------------------------------------------- */

static type make_type(const letter *a, size_t k, const size_t *n, size_t length)
{
    type t = { 0, k > 1 ? cr_lgamma_abs((double)length + 1) : 0, 0 };
    for (size_t i = 0; i < k; i++) {
        t.log_p += (double)n[i] * log(a[i].p);
        t.log_count += (double)n[i] * log(a[i].many);
        if (k > 1) t.log_count -= cr_lgamma_abs((double)n[i] + 1);
    }
    t.mass = exp(t.log_p + t.log_count);
    return t;
}

/* n [k] becomes the next way to write `length` as a sum; not to be asked for after the last. */
static void next_type(size_t *n, size_t k)
{
    size_t rest = n[k - 1], i = k - 1;
    n[k - 1] = 0;
    while (i > 0 && n[i - 1] == 0) i--;
    if (i == 0) return;
    n[i - 1]--;
    n[i] = rest + 1;
}

static cr_status make_types(cr_ctx *cx, const letter *a, size_t k, size_t length, size_t *n,
                            type *out, size_t types)
{
    double total = 0;
    n[0] = length;
    for (size_t i = 0; i < types; i++, next_type(n, k)) {
        if (i % 65536 == 0 && cr_check_interrupt(cx) != CR_OK) return cr_error_status(cx);
        out[i] = make_type(a, k, n, length);
        total += out[i].mass;
    }
    for (size_t i = 0; i < types; i++) out[i].mass /= total; /* rounding of the great factorials */
    return CR_OK;
}

/* Least probable strings first. */
CRI_COMPARE_BY_TWO(compare_types, type, log_p, log_count);

/* --- the answers ----------------------------------------------------------------------------- */

static void measure_typical(const type *t, size_t types, size_t length, double beta,
                            double *workspace, cr_source *out)
{
    size_t n = 0;
    out->p_typical = 0;
    for (size_t i = 0; i < types; i++)
        if (fabs(-t[i].log_p / (double)length - out->entropy) < beta) {
            workspace[n++] = t[i].log_count;
            out->p_typical += t[i].mass;
        }
    out->p_typical = fmin(out->p_typical, 1);
    out->log_typical = cr_logsumexp(workspace, n);
}

/* How many strings of one type go when there is room for the mass `left`; logarithm of those that
 * stay.  A share within 1e-12 of a whole number of strings counts as it. */
static double keep_rest(const type *t, double left)
{
    double log_gone = left > 0 ? log(left) - t->log_p : -INFINITY, share;
    if (log_gone < 36)
        share = floor(exp(log_gone) * (1 + 1e-12)) * exp(-t->log_count);
    else
        share = exp(log_gone - t->log_count);
    return share < 1 ? t->log_count + log1p(-share) : -INFINITY;
}

/* The smallest set with mass 1 - delta is what is left when the least probable strings go as long
 * as their mass is at most delta: sharp also where delta is small. */
static double measure_essential(const type *t, size_t types, double delta, double *workspace)
{
    double gone = 0;
    size_t i = 0, n = 0;
    for (; i + 1 < types && gone + t[i].mass <= delta * (1 + 1e-12); i++) gone += t[i].mass;
    workspace[n++] = keep_rest(&t[i++], delta - gone);
    for (; i < types; i++) workspace[n++] = t[i].log_count;
    return cr_logsumexp(workspace, n);
}

cr_status cr_source_describe(cr_ctx *cx, const double *p, size_t n, size_t length, double beta,
                             double delta, cr_source *out_source)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    cr_source  got = { 0 };
    size_t     k = 0;
    letter    *a = cr_scratch_bytes(&s, n, sizeof *a);
    CR_TRY(s.status);
    CR_TRY(check_source(cx, p, n, length, beta, delta));
    k = gather_letters(p, n, a);
    CR_TRY(count_types(cx, length, k, &got.types));
    type   *types = cr_scratch_bytes(&s, got.types, sizeof *types);
    double *workspace = cr_scratch_f64(&s, got.types);
    size_t *counts = cr_scratch_bytes(&s, k, sizeof *counts);
    CR_TRY(s.status);
    CR_TRY(make_types(cx, a, k, length, counts, types, got.types));
    qsort(types, got.types, sizeof *types, compare_types);
    double letters = 0;
    for (size_t i = 0; i < k; i++) letters += a[i].many;
    got.raw = log(letters);
    got.entropy = cr_info_entropy(p, n);
    measure_typical(types, got.types, length, beta, workspace, &got);
    got.essential = measure_essential(types, got.types, delta, workspace);
    *out_source = got;
done:
    cr_scratch_end(&s);
    return st;
}

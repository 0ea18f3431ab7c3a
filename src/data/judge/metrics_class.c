/* metrics_class.c -- scores of predicted class probabilities. */
#include "metrics_internal.h"
#include "base/parallel.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "base/find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = CR_CALIBRATION_BINS };

/* --- by the order of the scores -------------------------------------------------------------- */

typedef struct scored {
    double score, inside, outside; /* the weight stands on the side of the row */
    size_t row;
} scored;

CRI_COMPARE_BY_TWO(compare_scores, scored, score, row); /* no ties: sums have one order */

/* From low to high: each group of equal scores beats what is outside below it, and half its own. */
static double sum_pairs(const scored *a, size_t n)
{
    double below = 0, inside = 0, wins = 0;
    for (size_t i = 0, end; i < n; i = end) {
        double in = 0, out = 0;
        for (end = i; end < n && a[end].score == a[i].score; end++) {
            in += a[end].inside;
            out += a[end].outside;
        }
        wins += in * (below + out / 2);
        inside += in;
        below += out;
    }
    return inside > 0 && below > 0 ? wins / (inside * below) : (double)NAN;
}

/* From high to low: what each group of equal scores adds to the recall, times the precision with it. */
static double sum_precisions(const scored *a, size_t n)
{
    double inside = 0, outside = 0, all = 0, sum = 0;
    for (size_t i = 0; i < n; i++) all += a[i].inside;
    for (size_t i = n, begin; i > 0; i = begin) {
        double in = 0;
        for (begin = i; begin > 0 && a[begin - 1].score == a[i - 1].score; begin--) {
            in += a[begin - 1].inside;
            outside += a[begin - 1].outside;
        }
        inside += in;
        if (in > 0) sum += in / all * inside / (inside + outside);
    }
    return all > 0 && outside > 0 ? sum : (double)NAN;
}

/* Both NaN unless both sides have weight. */
static cr_status rank(cr_ctx *cx, const double *score, size_t stride, const uint32_t *codes,
                      uint32_t code, size_t n, const double *opt_weight, double *out_auc,
                      double *opt_precision)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    scored    *a = cr_scratch_bytes(&s, n, sizeof *a);

    CR_TRY(s.status);
    CR_TRY(cri_check_weights(cx, opt_weight, n));
    for (size_t i = 0; i < n; i++) {
        double w = opt_weight ? opt_weight[i] : 1, x = score[i * stride];
        if (isnan(x)) CR_TRY(cr_fail(cx, CR_EDATA, "the score of row %zu is not a number", i + 1));
        a[i] = codes[i] == code ? (scored){ x, w, 0, i } : (scored){ x, 0, w, i };
    }
    if (n > 0) qsort(a, n, sizeof *a, compare_scores);
    *out_auc = sum_pairs(a, n);
    if (opt_precision) *opt_precision = sum_precisions(a, n);
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cr_auc(cr_ctx *cx, const double *score, size_t stride, const uint32_t *codes,
                 uint32_t code, size_t n, const double *opt_weight, double *out_auc)
{
    return rank(cx, score, stride, codes, code, n, opt_weight, out_auc, NULL);
}

/* One class against the rest; SIZE_MAX: the mean over all for which it is defined. */
static cr_status rank_classes(cr_ctx *cx, const uint32_t *codes, cr_cmat P, size_t one_class,
                              const double *opt_weight, cr_class_metrics *out)
{
    cr_status st = CR_OK;
    double    auc = 0, precision = 0, one[2];
    size_t    defined = 0;
    for (size_t k = 0; k < P.cols; k++) {
        if (one_class != SIZE_MAX && k != one_class) continue;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(
            rank(cx, P.a + k, P.stride, codes, (uint32_t)k, P.rows, opt_weight, &one[0], &one[1]));
        if (isnan(one[0])) continue;
        auc += one[0], precision += one[1];
        defined++;
    }
    out->auc = defined ? auc / (double)defined : (double)NAN;
    out->average_precision = defined ? precision / (double)defined : (double)NAN;
done:
    return st;
}

/* --- the rest, by sums over rows ------------------------------------------------------------- */

enum { WEIGHT, RIGHT, LOSS, BRIER, FIRST_BIN };
enum { BIN_COUNT, BIN_WEIGHT, BIN_CONFIDENCE, BIN_RIGHT, BIN_SUMS };
enum { SUMS = FIRST_BIN + BINS * BIN_SUMS };

typedef struct job {
    const uint32_t *codes;
    const double   *weight;
    cr_cmat         P;
} job;

/* The bin b with b/BINS < confidence <= (b + 1)/BINS. */
static size_t bin_of(double confidence)
{
    double b = ceil(confidence * BINS) - 1;
    if (confidence > (b + 1) / BINS) b++; /* the product was rounded down; never up, for 15 bins */
    return b < 0 ? 0 : b > BINS - 1 ? BINS - 1 : (size_t)b;
}

static double brier_score(const double *p, size_t K, size_t truth)
{
    double sum = 0;
    if (K == 2) return (p[1] - (double)truth) * (p[1] - (double)truth);
    for (size_t k = 0; k < K; k++) {
        double d = p[k] - (k == truth ? 1 : 0);
        sum += d * d;
    }
    return sum;
}

static void sum_rows(void *arg, cri_range rows, double *acc)
{
    const job *j = arg;
    size_t     K = j->P.cols;
    for (size_t i = rows.begin; i < rows.end; i++) {
        const double *p = j->P.a + i * j->P.stride;
        double        w = j->weight ? j->weight[i] : 1;
        size_t        best = cri_largest(p, K);
        double       *bin = acc + FIRST_BIN + BIN_SUMS * bin_of(p[best]);
        bool          right = best == j->codes[i];
        bin[BIN_COUNT] += 1;
        if (w == 0) continue; /* also where the loss is infinite */
        acc[WEIGHT] += w;
        acc[RIGHT] += right ? w : 0;
        acc[LOSS] -= w * log(p[j->codes[i]]);
        acc[BRIER] += w * brier_score(p, K, j->codes[i]);
        bin[BIN_WEIGHT] += w;
        bin[BIN_CONFIDENCE] += w * p[best];
        bin[BIN_RIGHT] += right ? w : 0;
    }
}

static cr_status check_row(cr_ctx *cx, const uint32_t *codes, cr_cmat P, size_t i)
{
    const double *p = P.a + i * P.stride;
    double        sum = 0;
    for (size_t k = 0; k < P.cols; k++) {
        if (!(p[k] >= 0 && p[k] <= 1))
            return cr_fail(cx, CR_EDATA, "the probability of class %zu in row %zu is %g", k + 1,
                           i + 1, p[k]);
        sum += p[k];
    }
    if (fabs(sum - 1) > 1e-6)
        return cr_fail(cx, CR_EDATA, "the probabilities of row %zu sum to %.9g, not to 1", i + 1,
                       sum);
    if (codes[i] >= P.cols)
        return cr_fail(cx, CR_EDATA, "the true class of row %zu is missing or not one of the %zu",
                       i + 1, P.cols);
    return CR_OK;
}

static cr_status check_input(cr_ctx *cx, const uint32_t *codes, cr_cmat P, const double *opt_weight)
{
    cr_status st = CR_OK;
    if (P.rows == 0) return cr_fail(cx, CR_EARG, "there are no rows to evaluate");
    if (P.cols < 2) return cr_fail(cx, CR_EARG, "%zu classes: at least 2 are needed", P.cols);
    for (size_t i = 0; i < P.rows && st == CR_OK; i++) st = check_row(cx, codes, P, i);
    return st == CR_OK ? cri_check_weights(cx, opt_weight, P.rows) : st;
}

static void fill_metrics(const double *sums, cr_class_metrics *out)
{
    double w = sums[WEIGHT];
    out->accuracy = sums[RIGHT] / w;
    out->log_loss = sums[LOSS] / w;
    out->brier = sums[BRIER] / w;
    for (size_t b = 0; b < BINS; b++) {
        const double *bin = sums + FIRST_BIN + BIN_SUMS * b;
        out->bins[b].count = (size_t)bin[BIN_COUNT];
        if (bin[BIN_WEIGHT] == 0) continue;
        out->bins[b].weight = bin[BIN_WEIGHT];
        out->bins[b].confidence = bin[BIN_CONFIDENCE] / bin[BIN_WEIGHT];
        out->bins[b].accuracy = bin[BIN_RIGHT] / bin[BIN_WEIGHT];
        out->calibration_error += fabs(bin[BIN_RIGHT] - bin[BIN_CONFIDENCE]) / w;
    }
}

/* --- what was taken for what ------------------------------------------------------------------ */

static void confuse(const uint32_t *codes, cr_cmat P, const double *opt_weight, double *out)
{
    memset(out, 0, P.cols * P.cols * sizeof *out);
    for (size_t i = 0; i < P.rows; i++)
        out[codes[i] * P.cols + cri_largest(P.a + i * P.stride, P.cols)] +=
            opt_weight ? opt_weight[i] : 1;
}

cr_status cr_confusion(cr_ctx *cx, const uint32_t *codes, cr_cmat P, const double *opt_weight,
                       double *out)
{
    cr_status st = check_input(cx, codes, P, opt_weight);
    if (st == CR_OK) confuse(codes, P, opt_weight, out);
    return st;
}

/* By how much weight each class has, is predicted with, and is predicted right with: [K] each. */
static void judge_decisions(const double *is, const double *taken, const double *right, size_t K,
                            size_t one_class, cr_class_metrics *out)
{
    double recalls = 0, f1s = 0;
    size_t occur = 0, seen = 0;
    for (size_t k = 0; k < K; k++) {
        if (is[k] > 0) recalls += right[k] / is[k], occur++;
        if (one_class != SIZE_MAX && k != one_class) continue;
        /* the harmonic mean of right / is and right / taken */
        if (is[k] + taken[k] > 0) f1s += 2 * right[k] / (is[k] + taken[k]), seen++;
    }
    out->balanced_accuracy = recalls / (double)occur;
    out->f1 = seen ? f1s / (double)seen : (double)NAN;
}

cr_status cr_class_evaluate(cr_ctx *cx, const uint32_t *codes, cr_cmat P, const double *opt_weight,
                            cr_class_metrics *out)
{
    return cr_class_evaluate_one(cx, codes, P, P.cols == 2 ? 1 : SIZE_MAX, opt_weight, out);
}

cr_status cr_class_evaluate_one(cr_ctx *cx, const uint32_t *codes, cr_cmat P, size_t one_class,
                                const double *opt_weight, cr_class_metrics *out)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    job              j = { codes, opt_weight, P };
    double           sums[SUMS], *is = cr_scratch_bytes(&s, P.cols, sizeof *is);
    double          *taken = cr_scratch_bytes(&s, P.cols, sizeof *taken);
    double          *right = cr_scratch_bytes(&s, P.cols, sizeof *right);
    cr_class_metrics m = { 0 };
    CR_TRY(s.status);
    CR_TRY(check_input(cx, codes, P, opt_weight));
    CR_TRY(rank_classes(cx, codes, P, one_class, opt_weight, &m));
    CR_TRY(cri_parallel_sum(cx, NULL, P.rows, CRI_METRICS_BLOCK, SUMS, sum_rows, &j, sums));
    fill_metrics(sums, &m);
    for (size_t i = 0; i < P.rows; i++) {
        double w = opt_weight ? opt_weight[i] : 1;
        size_t best = cri_largest(P.a + i * P.stride, P.cols);
        is[codes[i]] += w, taken[best] += w;
        right[best] += best == codes[i] ? w : 0;
    }
    judge_decisions(is, taken, right, P.cols, one_class, &m);
    *out = m;
done:
    cr_scratch_end(&s);
    return st;
}

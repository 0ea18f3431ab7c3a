/* calibrate.c -- the maps: learned, applied, saved. */
#include "calibrate.h"
#include "base/scratch.h"
#include "base/sort.h"
#include "math/isotonic.h"
#include "math/special/special.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

CRI_RECORD_TABLE(static, calibration_record, cri_calibration, CRI_CALIBRATION);

/* --- isotonic -------------------------------------------------------------------------------- */

typedef struct seen {
    double p, hit, weight; /* what was said, the share that came true, how much it counts */
} seen;

CRI_COMPARE_BY(by_p, seen, p);

/* Sorts by p and makes one of equals; returns how many are left. */
static size_t merge_ties(seen *rows, size_t n)
{
    size_t m = 0;
    if (n > 0) qsort(rows, n, sizeof *rows, by_p);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].weight == 0) continue;
        if (m > 0 && rows[m - 1].p == rows[i].p) {
            double weight = rows[m - 1].weight + rows[i].weight;
            rows[m - 1].hit += (rows[i].hit - rows[m - 1].hit) * (rows[i].weight / weight);
            rows[m - 1].weight = weight;
        } else {
            rows[m++] = rows[i];
        }
    }
    return m;
}

/* Both ends of every step; x [2 n], y [2 n] at the most.  Returns how many. */
static cr_status fit_isotonic(cr_ctx *cx, seen *rows, size_t n, double *x, double *y, size_t *out_n)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    double    *hit = cr_scratch_f64(&s, n), *w = cr_scratch_f64(&s, n), *f = cr_scratch_f64(&s, n);
    double     total = 0;
    size_t     m, knots = 0;

    CR_TRY(s.status);
    m = merge_ties(rows, n);
    for (size_t i = 0; i < m; i++) hit[i] = rows[i].hit, w[i] = rows[i].weight, total += w[i];
    CR_TRY(cr_isotonic(cx, hit, w, m, f));
    double edge = 1 / (total + 2);
    for (size_t i = 0; i < m; i++) {
        bool first = i == 0 || f[i] != f[i - 1], last = i + 1 == m || f[i] != f[i + 1];
        if (!first && !last) continue;
        x[knots] = rows[i].p;
        y[knots++] = fmin(fmax(f[i], edge), 1 - edge);
    }
    *out_n = knots;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- Platt ----------------------------------------------------------------------------------- */

static double logit(double p)
{
    double q = fmin(fmax(p, DBL_MIN), 1 - DBL_EPSILON / 2);
    return log(q) - log1p(-q);
}

/* Gradient and Hessian of -sum w (t log q + (1-t) log(1-q)), q = sigmoid(a z + b); its value. */
static double platt_terms(const seen *rows, size_t n, double high, double low, double a, double b,
                          double g[2], double H[3])
{
    double value = 0;
    g[0] = g[1] = H[0] = H[1] = H[2] = 0;
    for (size_t i = 0; i < n; i++) {
        double z = rows[i].p, w = rows[i].weight, t = rows[i].hit > 0.5 ? high : low;
        double u = a * z + b, q = cr_sigmoid(u), h = w * q * (1 - q), d = w * (q - t);
        value += w * ((u > 0 ? log1p(exp(-u)) : log1p(exp(u)) - u) + (1 - t) * u);
        g[0] += d * z, g[1] += d;
        H[0] += h * z * z, H[1] += h * z, H[2] += h;
    }
    return value;
}

/* Newton's method with halving of steps (Lin, Lin & Weng 2007, alg. 1); rows[].p is the logit. */
static void fit_platt(const seen *rows, size_t n, double *out_a, double *out_b)
{
    double plus = 0, minus = 0, a = 1, b = 0, g[2], H[3];
    for (size_t i = 0; i < n; i++) *(rows[i].hit > 0.5 ? &plus : &minus) += rows[i].weight;
    double high = (plus + 1) / (plus + 2), low = 1 / (minus + 2);
    double value = platt_terms(rows, n, high, low, a, b, g, H);
    for (int step = 0; step < 100; step++) {
        double ridge = 1e-12 * (1 + H[0] + H[2]);
        double h0 = H[0] + ridge, h2 = H[2] + ridge, det = h0 * h2 - H[1] * H[1];
        double da = -(h2 * g[0] - H[1] * g[1]) / det, db = -(h0 * g[1] - H[1] * g[0]) / det;
        double slope = g[0] * da + g[1] * db, size = 1, next, gn[2], Hn[3];
        if (fabs(slope) <= 1e-22 * (1 + fabs(value))) break;
        for (;; size /= 2) {
            next = platt_terms(rows, n, high, low, a + size * da, b + size * db, gn, Hn);
            if (next <= value + 1e-4 * size * slope || size < 1e-10) break;
        }
        if (!(next <= value)) break;
        a += size * da, b += size * db, value = next;
        memcpy(g, gn, sizeof g);
        memcpy(H, Hn, sizeof H);
    }
    *out_a = a;
    *out_b = b;
}

/* --- learning -------------------------------------------------------------------------------- */

static size_t count_maps(size_t K, bool pairs) { return pairs ? K * (K - 1) / 2 : K == 2 ? 1 : K; }

void cri_pair_classes(size_t K, size_t pair, size_t *out_i, size_t *out_j)
{
    size_t i = 0;
    for (; pair >= K - 1 - i; i++) pair -= K - 1 - i;
    *out_i = i, *out_j = i + 1 + pair;
}

cri_calibration *cri_calibration_new(cr_ctx *cx, size_t method, size_t K, bool pairs, size_t knots)
{
    cri_calibration *c = cr_alloc(cx, 1, sizeof *c);
    if (!c) return NULL;
    *c = (cri_calibration){
        .method = method, .classes = K, .maps = count_maps(K, pairs), .pairs = pairs, .knots = knots
    };
    if (cri_record_allocate(cx, calibration_record, c) == CR_OK) return c;
    cri_calibration_free(cx, c);
    return NULL;
}

void cri_calibration_free(cr_ctx *cx, cri_calibration *c)
{
    if (!c) return;
    cri_record_free(cx, calibration_record, c);
    cr_free(cx, c, 1, sizeof *c);
}

/* What was said between the classes of a pair of the rows of both, and whether it was the latter; how many rows. */
static size_t gather_pair(const double *P, const uint32_t *codes, const double *opt_w, size_t n,
                          size_t K, size_t pair, seen *rows)
{
    size_t i, j, found = 0, pairs = count_maps(K, true);
    cri_pair_classes(K, pair, &i, &j);
    for (size_t r = 0; r < n; r++)
        if (codes[r] == i || codes[r] == j)
            rows[found++] =
                (seen){ P[r * pairs + pair], codes[r] == j ? 1 : 0, opt_w ? opt_w[r] : 1 };
    return found;
}

/* What was said of class k, and whether it came. */
static void gather(const double *P, const uint32_t *codes, const double *opt_w, size_t n, size_t K,
                   size_t k, seen *rows)
{
    for (size_t i = 0; i < n; i++)
        rows[i] = (seen){ P[i * K + k], codes[i] == k ? 1 : 0, opt_w ? opt_w[i] : 1 };
}

cr_status cri_calibration_fit(cr_ctx *cx, size_t method, const double *P, bool pairs,
                              const uint32_t *codes, const double *opt_w, size_t n, size_t K,
                              cri_calibration **out)
{
    cr_status        st = CR_OK;
    cr_scratch       s = cr_scratch_begin(cx);
    size_t           maps = count_maps(K, pairs), knots = 0, found = 0;
    bool             steps = method == CRI_CALIBRATE_ISOTONIC;
    seen            *rows = cr_scratch_bytes(&s, n, sizeof *rows);
    double          *x = cr_scratch_f64(&s, steps ? maps * 2 * n : 0);
    double          *y = cr_scratch_f64(&s, steps ? maps * 2 * n : 0);
    double          *map = cr_scratch_f64(&s, steps ? maps * 2 * n : 0);
    double          *ab = cr_scratch_bytes(&s, 2 * maps, sizeof *ab);
    cri_calibration *c = NULL;

    CR_TRY(s.status);
    for (size_t m = 0; m < maps; m++) {
        size_t some = n;
        if (pairs)
            some = gather_pair(P, codes, opt_w, n, K, m, rows);
        else
            gather(P, codes, opt_w, n, K, K == 2 ? 1 : m, rows);
        if (steps) CR_TRY(fit_isotonic(cx, rows, some, x + knots, y + knots, &found));
        for (size_t k = 0; steps && k < found; k++) map[knots++] = (double)m;
        for (size_t i = 0; !steps && !pairs && i < n; i++) rows[i].p = logit(rows[i].p);
        if (!steps) fit_platt(rows, some, &ab[2 * m], &ab[2 * m + 1]);
    }
    c = cri_calibration_new(cx, method, K, pairs, knots);
    if (!c) CR_TRY(CR_ENOMEM);
    for (size_t m = 0; m < maps; m++)
        c->calibration_slope[m] = ab[2 * m], c->calibration_offset[m] = ab[2 * m + 1];
    memcpy(c->calibration_map, map, knots * sizeof *map);
    memcpy(c->calibration_x, x, knots * sizeof *x);
    memcpy(c->calibration_y, y, knots * sizeof *y);
    *out = c;
done:
    cr_scratch_end(&s);
    return st;
}

/* --- applying -------------------------------------------------------------------------------- */

/* The first knot of map m whose x is not below p, of those that start at or behind `from`. */
static size_t find_knot(const cri_calibration *c, double m, double p)
{
    size_t low = 0, high = c->knots;
    while (low < high) {
        size_t i = low + (high - low) / 2;
        double map = c->calibration_map[i];
        if (map < m || (map == m && c->calibration_x[i] < p))
            low = i + 1;
        else
            high = i;
    }
    return low;
}

static double step_value(const cri_calibration *c, size_t m, double p)
{
    size_t        i = find_knot(c, (double)m, p);
    const double *x = c->calibration_x, *y = c->calibration_y;
    bool          before = i > 0 && c->calibration_map[i - 1] == (double)m;
    bool          here = i < c->knots && c->calibration_map[i] == (double)m;
    if (!here) return before ? y[i - 1] : 0.5;
    if (!before || x[i] == p) return y[i];
    return y[i - 1] + (y[i] - y[i - 1]) * ((p - x[i - 1]) / (x[i] - x[i - 1]));
}

static double mapped(const cri_calibration *c, size_t m, double p)
{
    if (c->method == CRI_CALIBRATE_ISOTONIC) return step_value(c, m, p);
    return cr_sigmoid(c->calibration_slope[m] * (c->pairs ? p : logit(p)) +
                      c->calibration_offset[m]);
}

/* p_t becomes what minimises the sum, given the others; around until nothing changes. */
static void couple(const cri_calibration *c, const double *f, double *p)
{
    enum { MOST_ROUNDS = 1000 };
    size_t K = c->classes;
    for (size_t k = 0; k < K; k++) p[k] = 1 / (double)K;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        double most = 0;
        for (size_t t = 0; t < K; t++) {
            double square = 0, cross = 0, all = 0, sum = 0;
            /* Q_tt = sum_s r_st^2, Q_tj = -r_jt r_tj;  p_t = (p^T Q p - sum_j Q_tj p_j) / Q_tt, scaled to sum to one */
            for (size_t pair = 0; pair < c->maps; pair++) {
                size_t i, j;
                cri_pair_classes(K, pair, &i, &j);
                double rj = mapped(c, pair, f[pair]), ri = 1 - rj, d = rj * p[i] - ri * p[j];
                all += d * d;
                if (i == t) square += rj * rj, cross += rj * ri * p[j];
                if (j == t) square += ri * ri, cross += rj * ri * p[i];
            }
            if (!(square > 0)) continue;
            double next = (all + cross) / square;
            most = fmax(most, fabs(next - p[t]));
            p[t] = next;
            for (size_t k = 0; k < K; k++) sum += p[k];
            for (size_t k = 0; k < K; k++) p[k] /= sum;
        }
        if (most < 1e-12) break;
    }
}

void cri_calibration_apply(const cri_calibration *c, double *P, const double *decision, size_t n)
{
    size_t K = c->classes;
    for (size_t i = 0; i < n; i++) {
        double *p = P + i * K, sum = 0;
        if (isnan(p[0])) continue;
        if (c->pairs) {
            couple(c, decision + i * c->maps, p);
            continue;
        }
        if (K == 2) {
            p[1] = mapped(c, 0, p[1]);
            p[0] = 1 - p[1];
            continue;
        }
        for (size_t k = 0; k < K; k++) sum += p[k] = mapped(c, k, p[k]);
        for (size_t k = 0; k < K; k++) p[k] = sum > 0 ? p[k] / sum : 1 / (double)K;
    }
}

/* --- files ----------------------------------------------------------------------------------- */

cr_status cri_calibration_write(cr_ctx *cx, const cri_calibration *c, cri_store *store, json_t *out)
{
    return cri_record_write(cx, calibration_record, c, store, out);
}

/* What a sound file holds. */
static bool is_sound(const cri_calibration *c, size_t classes)
{
    bool sound = (c->method == CRI_CALIBRATE_ISOTONIC || c->method == CRI_CALIBRATE_PLATT) &&
                 classes >= 2 && c->classes == classes && c->pairs <= 1 &&
                 c->maps == count_maps(classes, c->pairs);
    for (size_t i = 0; sound && i < c->knots; i++) {
        double m = c->calibration_map[i], x = c->calibration_x[i], y = c->calibration_y[i];
        sound = m >= 0 && m < (double)c->maps && m == floor(m) && y >= 0 && y <= 1;
        if (sound && i > 0)
            sound = m > c->calibration_map[i - 1] ||
                    (m == c->calibration_map[i - 1] && x > c->calibration_x[i - 1]);
    }
    return sound;
}

cr_status cri_calibration_read(cr_ctx *cx, const cri_store *store, const json_t *in, size_t classes,
                               cri_calibration **out)
{
    cr_status        st = CR_OK;
    cri_calibration *c = cr_alloc(cx, 1, sizeof *c);
    if (!c) return CR_ENOMEM;
    CR_TRY(cri_record_read(cx, calibration_record, store, in, c));
    if (!is_sound(c, classes))
        CR_TRY(cr_fail(cx, CR_EDATA, "%s: the calibration in the model file is not valid",
                       cri_store_source(store)));
    *out = c;
    c = NULL;
done:
    cri_calibration_free(cx, c);
    return st;
}

/* joint.c -- see joint.h. */
#include "joint_kernel.h"
#include "math/constants.h"
#include "math/special/special.h"

#include <math.h>
#include <string.h>

size_t cri_joint_work(size_t k, size_t g) { return 2 * k * g + k + 4 * g * g + 4 * g; }

size_t cri_joint_width(size_t k, size_t g) { return k * (1 + g + g * g); }

/* The means [k] of column a. */
static double *mean_at(const cri_joint *j, size_t a) { return j->mean + j->column[a] * j->k; }

/* Lower triangle L of S = L L^T in place, rows `g` apart; false where S is not positive definite. */
static bool factor(double *S, size_t n, size_t g)
{
    for (size_t j = 0; j < n; j++) {
        double v = S[j * g + j];
        for (size_t m = 0; m < j; m++) v -= S[j * g + m] * S[j * g + m];
        if (!(v > 0 && isfinite(v))) return false;
        S[j * g + j] = v = sqrt(v);
        for (size_t i = j + 1; i < n; i++) {
            double w = S[i * g + j];
            for (size_t m = 0; m < j; m++) w -= S[i * g + m] * S[j * g + m];
            S[i * g + j] = w / v;
        }
    }
    return true;
}

bool cri_joint_prepare(cri_joint *j)
{
    size_t  k = j->k, g = j->g;
    double *L = j->work, *W = L + g * g;
    for (size_t c = 0; c < k; c++) {
        double log_det = 0;
        for (size_t a = 0; a < g * g; a++) L[a] = j->covariance[a * k + c];
        if (!factor(L, g, g)) return false;
        for (size_t b = 0; b < g; b++) { /* column b of the inverse */
            for (size_t a = 0; a < g; a++) {
                double v = a == b;
                for (size_t m = b; m < a; m++) v -= L[a * g + m] * W[m * g + b];
                W[a * g + b] = a < b ? 0 : v / L[a * g + a];
            }
            log_det += log(L[b * g + b]);
        }
        for (size_t a = 0; a < g * g; a++) j->whiten[a * k + c] = W[a];
        j->peak[c] = -log_det - (double)g * CRI_HALF_LOG_2PI;
    }
    return true;
}

/* How many cells of step t are there; seen [g] lists them, then the others. */
static size_t look_for_gaps(const cri_joint *j, size_t t, size_t *seen)
{
    size_t n = 0, last = j->g;
    for (size_t a = 0; a < j->g; a++) {
        if (!isnan(j->x[a][t])) seen[n++] = a;
    }
    for (size_t a = j->g; a-- > 0;)
        if (isnan(j->x[a][t])) seen[--last] = a;
    return n;
}

/* The log density of n cells in state c, of sum = |L^-1 d|^2. */
static double density(const cri_joint *j, size_t c, size_t n, double sum, double log_det)
{
    double dof = j->opt_dof ? j->opt_dof[c] : 0, half = 0.5 * (double)n;
    if (!(dof > 0)) return -0.5 * sum - log_det - (double)n * CRI_HALF_LOG_2PI;
    return cr_lgamma_diff(0.5 * dof, half) - half * log(dof * M_PI) - log_det -
           (0.5 * dof + half) * log1p(sum / dof);
}

/* The cells that are there, of state c: L [n x n] of their covariance, y = L^-1 d; the log density. */
static double score_part(const cri_joint *j, size_t t, size_t c, const size_t *seen, size_t n,
                         double *L, double *y)
{
    size_t k = j->k, g = j->g;
    double sum = 0, log_det = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++)
            L[a * g + b] = j->covariance[(seen[a] * g + seen[b]) * k + c];
    if (!factor(L, n, g)) return -INFINITY;
    for (size_t a = 0; a < n; a++) {
        double v = j->x[seen[a]][t] - mean_at(j, seen[a])[c];
        for (size_t b = 0; b < a; b++) v -= L[a * g + b] * y[b];
        y[a] = v / L[a * g + a];
        sum += y[a] * y[a];
        log_det += log(L[a * g + a]);
    }
    return density(j, c, n, sum, log_det);
}

/* d [g x k] of a step without gaps. */
static void deviate(const cri_joint *j, size_t t, double *d)
{
    for (size_t a = 0; a < j->g; a++) {
        double        x = j->x[a][t];
        const double *mean = mean_at(j, a);
        for (size_t c = 0; c < j->k; c++) d[a * j->k + c] = x - mean[c];
    }
}

static bool has_gap(const cri_joint *j, size_t t)
{
    for (size_t a = 0; a < j->g; a++)
        if (isnan(j->x[a][t])) return true;
    return false;
}

enum { MOST_JOINT = 512, TILE = 128 };

static bool is_student(const cri_joint *j) { return j->opt_dof && j->opt_dof[0] > 0; }

/* The end of the rows from t on that have no gap, TILE of them at the most: what these take stays near the processor. */
static size_t end_of_run(const cri_joint *j, size_t t, size_t end)
{
    size_t most = end - t < TILE ? end : t + TILE;
    while (t < most && !has_gap(j, t)) t++;
    return t;
}

/* One step of any columns, with or without gaps. */
static void score_step(const cri_joint *j, size_t t, double *out)
{
    size_t  k = j->k, g = j->g, seen[MOST_JOINT];
    double *d = j->work, *y = d + k * g, *L = y + k, *rest = L + g * g, *square = L;
    bool    student = is_student(j);
    if (has_gap(j, t)) {
        size_t n = look_for_gaps(j, t, seen);
        for (size_t c = 0; c < k && n > 0; c++) out[c] += score_part(j, t, c, seen, n, L, rest);
        return;
    }
    deviate(j, t, d);
    if (student)
        memset(square, 0, k * sizeof *square);
    else
        for (size_t c = 0; c < k; c++) out[c] += j->peak[c];
    for (size_t a = 0; a < g; a++) {
        memset(y, 0, k * sizeof *y);
        for (size_t b = 0; b <= a; b++) {
            const double *w = j->whiten + (a * g + b) * k, *db = d + b * k;
            for (size_t c = 0; c < k; c++) y[c] += w[c] * db[c];
        }
        if (student)
            for (size_t c = 0; c < k; c++) square[c] += y[c] * y[c];
        else
            for (size_t c = 0; c < k; c++) out[c] -= 0.5 * y[c] * y[c];
    }
    for (size_t c = 0; c < k && student; c++)
        out[c] += density(j, c, g, square[c], -j->peak[c] - (double)g * CRI_HALF_LOG_2PI);
}

void cri_joint_score(const cri_joint *j, size_t begin, size_t end, double *out)
{
    bool few = cri_joint_is_few(j->g) && !is_student(j);
    for (size_t t = begin; t < end;) {
        size_t run = few ? end_of_run(j, t, end) : t;
        if (run > t)
            cri_joint_score_few(j, t, run, out + (t - begin) * j->stride), t = run;
        else
            score_step(j, t, out + (t - begin) * j->stride), t++;
    }
}

/* The statistics of a step with gaps expected in state c: d [g], and the covariance of what is missing, which goes to
 * V [g x g]. */
static void expect_part(const cri_joint *j, size_t t, size_t c, const size_t *seen, size_t n,
                        double *d, double *L, double *M, double *y, double *V)
{
    size_t k = j->k, g = j->g;
    if (n > 0) score_part(j, t, c, seen, n, L, y);
    memset(V, 0, g * g * sizeof *V);
    for (size_t a = 0; a < n; a++) d[seen[a]] = j->x[seen[a]][t] - mean_at(j, seen[a])[c];
    for (size_t m = n; m < g; m++) { /* row m of M = Sigma_m,seen L^-T */
        double sum = 0;
        for (size_t a = 0; a < n; a++) {
            double v = j->covariance[(seen[m] * g + seen[a]) * k + c];
            for (size_t b = 0; b < a; b++) v -= L[a * g + b] * M[m * g + b];
            M[m * g + a] = v / L[a * g + a];
            sum += M[m * g + a] * y[a];
        }
        d[seen[m]] = sum;
        for (size_t o = n; o <= m; o++) {
            double v = j->covariance[(seen[m] * g + seen[o]) * k + c];
            for (size_t a = 0; a < n; a++) v -= M[m * g + a] * M[o * g + a];
            V[seen[m] * g + seen[o]] = V[seen[o] * g + seen[m]] = v;
        }
    }
}

/* gamma [k] */
static void gather_step(const cri_joint *j, size_t t, const double *gamma, double *sums)
{
    size_t  k = j->k, g = j->g, seen[MOST_JOINT];
    double *first = sums + k, *second = first + g * k;
    double *d = j->work, *rd = d + k * g, *L = rd + k, *M = L + g * g, *V = M + g * g,
           *y = V + g * g, *own = y + g;
    if (has_gap(j, t)) {
        size_t n = look_for_gaps(j, t, seen);
        for (size_t c = 0; c < k && n > 0; c++) {
            expect_part(j, t, c, seen, n, own, L, M, y, V);
            sums[c] += gamma[c];
            for (size_t a = 0; a < g; a++) {
                first[a * k + c] += gamma[c] * own[a];
                for (size_t b = 0; b <= a; b++)
                    second[(a * g + b) * k + c] += gamma[c] * (own[a] * own[b] + V[a * g + b]);
            }
        }
        return;
    }
    deviate(j, t, d);
    for (size_t c = 0; c < k; c++) sums[c] += gamma[c];
    for (size_t a = 0; a < g; a++) {
        double *f = first + a * k;
        for (size_t c = 0; c < k; c++) rd[c] = gamma[c] * d[a * k + c];
        for (size_t c = 0; c < k; c++) f[c] += rd[c];
        for (size_t b = 0; b <= a; b++) {
            double       *s = second + (a * g + b) * k;
            const double *db = d + b * k;
            for (size_t c = 0; c < k; c++) s[c] += rd[c] * db[c];
        }
    }
}

void cri_joint_gather(const cri_joint *j, size_t begin, size_t end, const double *gamma,
                      double *sums)
{
    bool few = cri_joint_is_few(j->g);
    for (size_t t = begin; t < end;) {
        size_t run = few ? end_of_run(j, t, end) : t;
        if (run > t)
            cri_joint_gather_few(j, t, run, gamma + (t - begin) * j->stride, sums), t = run;
        else
            gather_step(j, t, gamma + (t - begin) * j->stride, sums), t++;
    }
}

bool cri_joint_solve(cri_joint *j, double s, const double *sums)
{
    size_t        k = j->k, g = j->g;
    const double *first = sums + k, *second = first + g * k;
    double        total = 0, *shared = j->work, *step = shared + g * g;
    memset(shared, 0, g * g * sizeof *shared);
    for (size_t c = 0; c < k; c++) {
        double n = sums[c] + s;
        if (!(n > 0)) continue;
        total += n;
        for (size_t a = 0; a < g; a++) step[a] = (first[a * k + c] - s * mean_at(j, a)[c]) / n;
        for (size_t a = 0; a < g; a++)
            for (size_t b = 0; b <= a; b++) {
                double prior = (a == b) + mean_at(j, a)[c] * mean_at(j, b)[c];
                double v = second[(a * g + b) * k + c] + s * prior - n * step[a] * step[b];
                shared[a * g + b] += v;
                if (!j->tied)
                    j->covariance[(a * g + b) * k + c] = j->covariance[(b * g + a) * k + c] = v / n;
            }
        for (size_t a = 0; a < g; a++) mean_at(j, a)[c] += step[a];
    }
    for (size_t a = 0; a < g && j->tied; a++)
        for (size_t b = 0; b <= a; b++)
            for (size_t c = 0; c < k; c++)
                j->covariance[(a * g + b) * k + c] = j->covariance[(b * g + a) * k + c] =
                    shared[a * g + b] / total;
    return cri_joint_prepare(j);
}

double cri_joint_log_prior(const cri_joint *j)
{
    size_t k = j->k, g = j->g;
    double sum = 0;
    for (size_t c = 0; c < k; c++) {
        sum += j->peak[c];
        for (size_t a = 0; a < g; a++) {
            double y = 0;
            for (size_t b = 0; b <= a; b++) {
                double w = j->whiten[(a * g + b) * k + c];
                y += w * mean_at(j, b)[c];
                sum -= 0.5 * w * w;
            }
            sum -= 0.5 * y * y;
        }
    }
    return sum;
}

double cri_joint_least(const cri_joint *j)
{
    double least = INFINITY;
    for (size_t a = 0; a < j->g; a++)
        for (size_t c = 0; c < j->k; c++) {
            double w = j->whiten[(a * j->g + a) * j->k + c];
            least = fmin(least, 1 / (w * w));
        }
    return least;
}

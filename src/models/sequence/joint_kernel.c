/* joint_kernel.c -- densities and statistics of two or three normal columns, four states at a time: what belongs to these
 * states stays in registers while rows go by.  Compiled for every machine and for AVX2, the choice at run time; without
 * fused multiplication and in one order, so both give the same bits. */
#include "joint_kernel.h"
#include "base/inner_loop.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define AVX2 CRI_INNER_LOOP __attribute__((target("avx2")))
static bool use_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
#define AVX2 CRI_INNER_LOOP
static bool use_avx2(void) { return false; }
#endif
#define BODY CRI_INNER_LOOP static inline __attribute__((always_inline))

enum { LANES = 4, FEW = 3 };
typedef double lane __attribute__((vector_size(32), aligned(8), may_alias));

bool cri_joint_is_few(size_t g) { return g >= 1 && g <= FEW; }

/* The first n numbers, the others being 0; n is known where this is compiled. */
BODY void get(const double *from, size_t n, lane *x)
{
    *x = (lane){ 0 };
    if (n == LANES)
        *x = *(const lane *)(const void *)from;
    else
        for (size_t i = 0; i < n; i++) (*x)[i] = from[i];
}

BODY void put(const lane *x, size_t n, double *to)
{
    if (n == LANES)
        *(lane *)(void *)to = *x;
    else
        for (size_t i = 0; i < n; i++) to[i] = (*x)[i];
}

/* Of n states from c on. */
BODY void score_states(const cri_joint *j, size_t g, size_t c, size_t n, size_t begin, size_t end,
                       double *out)
{
    size_t        k = j->k, stride = j->stride;
    const double *x[FEW];
    lane          mean[FEW], W[FEW][FEW], peak;
    get(j->peak + c, n, &peak);
    for (size_t a = 0; a < g; a++) {
        x[a] = j->x[a];
        get(j->mean + j->column[a] * k + c, n, &mean[a]);
        for (size_t b = 0; b <= a; b++) get(j->whiten + (a * g + b) * k + c, n, &W[a][b]);
    }
    out += c;
    for (size_t t = begin; t < end; t++, out += stride) {
        lane sum, d[FEW];
        get(out, n, &sum);
        sum += peak;
        for (size_t a = 0; a < g; a++) {
            lane y = { 0 };
            d[a] = x[a][t] - mean[a];
            for (size_t b = 0; b <= a; b++) y += W[a][b] * d[b];
            sum -= 0.5 * y * y;
        }
        put(&sum, n, out);
    }
}

BODY void gather_states(const cri_joint *j, size_t g, size_t c, size_t n, size_t begin, size_t end,
                        const double *gamma, double *sums)
{
    size_t        k = j->k, stride = j->stride;
    double       *first = sums + k + c, *second = sums + k + g * k + c;
    const double *x[FEW];
    lane          mean[FEW], rows, m1[FEW], m2[FEW][FEW];
    get(sums + c, n, &rows);
    for (size_t a = 0; a < g; a++) {
        x[a] = j->x[a];
        get(j->mean + j->column[a] * k + c, n, &mean[a]);
        get(first + a * k, n, &m1[a]);
        for (size_t b = 0; b <= a; b++) get(second + (a * g + b) * k, n, &m2[a][b]);
    }
    gamma += c;
    for (size_t t = begin; t < end; t++, gamma += stride) {
        lane r, d[FEW];
        get(gamma, n, &r);
        rows += r;
        for (size_t a = 0; a < g; a++) {
            d[a] = x[a][t] - mean[a];
            lane rd = r * d[a];
            m1[a] += rd;
            for (size_t b = 0; b <= a; b++) m2[a][b] += rd * d[b];
        }
    }
    put(&rows, n, sums + c);
    for (size_t a = 0; a < g; a++) {
        put(&m1[a], n, first + a * k);
        for (size_t b = 0; b <= a; b++) put(&m2[a][b], n, second + (a * g + b) * k);
    }
}

/* All states: whole lanes, then the rest. */
BODY void score_columns(const cri_joint *j, size_t g, size_t begin, size_t end, double *out)
{
    size_t c = 0;
    for (; c + LANES <= j->k; c += LANES) score_states(j, g, c, LANES, begin, end, out);
    if (j->k - c == 3) score_states(j, g, c, 3, begin, end, out);
    if (j->k - c == 2) score_states(j, g, c, 2, begin, end, out);
    if (j->k - c == 1) score_states(j, g, c, 1, begin, end, out);
}

BODY void gather_columns(const cri_joint *j, size_t g, size_t begin, size_t end,
                         const double *gamma, double *sums)
{
    size_t c = 0;
    for (; c + LANES <= j->k; c += LANES) gather_states(j, g, c, LANES, begin, end, gamma, sums);
    if (j->k - c == 3) gather_states(j, g, c, 3, begin, end, gamma, sums);
    if (j->k - c == 2) gather_states(j, g, c, 2, begin, end, gamma, sums);
    if (j->k - c == 1) gather_states(j, g, c, 1, begin, end, gamma, sums);
}

BODY void score_any(const cri_joint *j, size_t begin, size_t end, double *out)
{
    if (j->g == 1) score_columns(j, 1, begin, end, out);
    if (j->g == 2) score_columns(j, 2, begin, end, out);
    if (j->g == 3) score_columns(j, 3, begin, end, out);
}

BODY void gather_any(const cri_joint *j, size_t begin, size_t end, const double *gamma,
                     double *sums)
{
    if (j->g == 1) gather_columns(j, 1, begin, end, gamma, sums);
    if (j->g == 2) gather_columns(j, 2, begin, end, gamma, sums);
    if (j->g == 3) gather_columns(j, 3, begin, end, gamma, sums);
}

AVX2 static void score_avx2(const cri_joint *j, size_t begin, size_t end, double *out)
{
    score_any(j, begin, end, out);
}
AVX2 static void gather_avx2(const cri_joint *j, size_t begin, size_t end, const double *gamma,
                             double *sums)
{
    gather_any(j, begin, end, gamma, sums);
}
CRI_INNER_LOOP static void score_plain(const cri_joint *j, size_t begin, size_t end, double *out)
{
    score_any(j, begin, end, out);
}
CRI_INNER_LOOP static void gather_plain(const cri_joint *j, size_t begin, size_t end,
                                        const double *gamma, double *sums)
{
    gather_any(j, begin, end, gamma, sums);
}

static void check_arrays(const cri_joint *j, size_t begin, size_t end)
{
    for (size_t a = 0; a < j->g; a++) {
        cri_check_array(j->x[a] + begin, end - begin);
        cri_check_array(j->mean + j->column[a] * j->k, j->k);
    }
    cri_check_array(j->whiten, j->g * j->g * j->k);
    cri_check_array(j->peak, j->k);
}

void cri_joint_score_few(const cri_joint *j, size_t begin, size_t end, double *out)
{
    check_arrays(j, begin, end);
    cri_check_array(out, (end - begin) * j->stride);
    (use_avx2() ? score_avx2 : score_plain)(j, begin, end, out);
}

void cri_joint_gather_few(const cri_joint *j, size_t begin, size_t end, const double *gamma,
                          double *sums)
{
    check_arrays(j, begin, end);
    cri_check_array(gamma, (end - begin) * j->stride);
    cri_check_array(sums, cri_joint_width(j->k, j->g));
    (use_avx2() ? gather_avx2 : gather_plain)(j, begin, end, gamma, sums);
}

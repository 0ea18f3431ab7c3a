/* svm_block.c -- pairs of variables on a working set. */
#include "svm_block.h"
#include "base/inner_loop.h"

#include <math.h>
#include <stdint.h>

/* Curvature that stands for none, or for one below 0 of a kernel that is not positive semi-definite. */
static const double FLAT = 1e-12;
enum { PATIENCE = 20 }; /* pairs for each variable, before all of them move together */

/* The variable of a group that may grow and has the largest v; SIZE_MAX where none may. */
static size_t best_up(const cri_svm_block *b, unsigned char group)
{
    size_t at = SIZE_MAX;
    double most = -INFINITY;
    for (size_t t = 0; t < b->q; t++)
        if (b->group[t] == group && b->beta[t] < b->most[t] && b->v[t] > most)
            most = b->v[t], at = t;
    return at;
}

/* The partner of i with the greatest gain; the violation between them and the smallest v of all that may fall. */
static size_t best_low(const cri_svm_block *b, size_t i, double *out_gain, double *out_violation)
{
    const double *K = b->K + b->row[i] * b->stride;
    size_t        at = SIZE_MAX;
    double        most = -1, least = INFINITY, kii = K[b->row[i]], vi = b->v[i];
    for (size_t t = 0; t < b->q; t++) {
        if (b->group[t] != b->group[i] || !(b->beta[t] > b->least[t])) continue;
        double d = vi - b->v[t];
        if (b->v[t] < least) least = b->v[t];
        if (!(d > 0)) continue;
        size_t r = b->row[t];
        double curve = kii + b->K[r * b->stride + r] - 2 * K[r];
        double gain = d * d / (curve > FLAT ? curve : FLAT);
        if (gain > most) most = gain, at = t;
    }
    *out_gain = most;
    *out_violation = vi - least;
    return at;
}

/* v[t] -= d (k_it - k_jt). */
static void follow(const cri_svm_block *b, size_t i, size_t j, double d)
{
    const double *Ki = b->K + b->row[i] * b->stride, *Kj = b->K + b->row[j] * b->stride;
    for (size_t t = 0; t < b->q; t++) b->v[t] -= d * (Ki[b->row[t]] - Kj[b->row[t]]);
}

/* Up to `most_steps` pairs; *out_converged where the violation is at most tol. */
static size_t solve_pairs(const cri_svm_block *b, double tol, size_t most_steps,
                          bool *out_converged)
{
    size_t step = 0;
    *out_converged = false;
    for (; step < most_steps; step++) {
        size_t i = SIZE_MAX, j = SIZE_MAX;
        double best = -1, worst = -INFINITY;
        for (unsigned char g = 0; g < 2; g++) {
            double gain, violation;
            size_t up = best_up(b, g),
                   low = up == SIZE_MAX ? SIZE_MAX : best_low(b, up, &gain, &violation);
            if (low == SIZE_MAX) continue;
            if (violation > worst) worst = violation;
            if (gain > best) best = gain, i = up, j = low;
        }
        if (!(worst > tol)) {
            *out_converged = true;
            break;
        }
        const double *Ki = b->K + b->row[i] * b->stride, *Kj = b->K + b->row[j] * b->stride;
        double        curve = Ki[b->row[i]] + Kj[b->row[j]] - 2 * Ki[b->row[j]];
        double        d = (b->v[i] - b->v[j]) / (curve > FLAT ? curve : FLAT);
        double        rise = b->most[i] - b->beta[i], fall = b->beta[j] - b->least[j];
        if (d >= rise && rise <= fall) {
            d = rise;
            b->beta[i] = b->most[i];
            b->beta[j] = rise == fall ? b->least[j] : b->beta[j] - d;
        } else if (d >= fall) {
            d = fall;
            b->beta[j] = b->least[j];
            b->beta[i] += d;
        } else {
            b->beta[i] += d;
            b->beta[j] -= d;
        }
        follow(b, i, j, d);
    }
    return step;
}

cr_status cri_svm_block_solve(cr_ctx *cx, const cri_svm_block *b, double tol, size_t most_steps,
                              size_t *out_steps)
{
    cr_status st = CR_OK;
    size_t    patience = PATIENCE * b->q;
    bool      converged = false;
    *out_steps = 0;
    while (*out_steps < most_steps && !converged) {
        size_t left = most_steps - *out_steps, newton = 0;
        *out_steps += solve_pairs(b, tol, left < patience ? left : patience, &converged);
        if (converged || *out_steps >= most_steps) break;
        CR_TRY(cr_check_interrupt(cx));
        CR_TRY(cri_svm_block_newton(cx, b, &newton));
        *out_steps += newton;
    }
done:
    return st;
}

/* combine_block.c -- the inner loops: one block of a joint table. */
#include "combine_internal.h"

#include <math.h>
#include <string.h>

void cri_block_multiply(const cri_track *t, const double *v, size_t n, bool logs,
                        const double *from, double *to)
{
    double c = v[0];
    if (logs) {
        if (t->shape == CRI_STRAIGHT)
            for (size_t i = 0; i < n; i++) to[i] = from[i] + v[i];
        else if (t->shape == CRI_CONSTANT)
            for (size_t i = 0; i < n; i++) to[i] = from[i] + c;
        else
            for (size_t i = 0; i < n; i++) to[i] = from[i] + v[t->place[i]];
    } else {
        if (t->shape == CRI_STRAIGHT)
            for (size_t i = 0; i < n; i++) to[i] = from[i] * v[i];
        else if (t->shape == CRI_CONSTANT)
            for (size_t i = 0; i < n; i++) to[i] = from[i] * c;
        else
            for (size_t i = 0; i < n; i++) to[i] = from[i] * v[t->place[i]];
    }
}

void cri_block_spread(const cri_track *t, const double *v, size_t n, double *to)
{
    if (t->shape == CRI_STRAIGHT)
        memcpy(to, v, n * sizeof *to);
    else if (t->shape == CRI_CONSTANT)
        for (size_t i = 0; i < n; i++) to[i] = v[0];
    else
        for (size_t i = 0; i < n; i++) to[i] = v[t->place[i]];
}

/* Four sums side by side, added in a fixed order. */
static double sum_block(const double *r, size_t n)
{
    double a = 0, b = 0, c = 0, d = 0;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) a += r[i], b += r[i + 1], c += r[i + 2], d += r[i + 3];
    for (; i < n; i++) a += r[i];
    return (a + b) + (c + d);
}

/* to[a, b] = sum over s of from[a, s, b]; to may be from. */
static void fold_sum(const cri_fold *f, const double *from, double *to)
{
    if (f->inner == 1) {
        for (size_t a = 0; a < f->outer; a++) {
            double sum = from[a * f->states];
            for (size_t k = 1; k < f->states; k++) sum += from[a * f->states + k];
            to[a] = sum;
        }
        return;
    }
    for (size_t a = 0; a < f->outer; a++) {
        const double *r = from + a * f->states * f->inner;
        double       *t = to + a * f->inner;
        for (size_t b = 0; b < f->inner; b++) t[b] = r[b] + r[f->inner + b];
        for (size_t k = 2; k < f->states; k++)
            for (size_t b = 0; b < f->inner; b++) t[b] += r[k * f->inner + b];
    }
}

void cri_block_add(const cri_track *t, double *out, const double *r, size_t n, double *workspace)
{
    if (t->shape == CRI_CONSTANT) {
        out[0] += sum_block(r, n);
        return;
    }
    for (size_t i = 0; t->shape == CRI_LISTED && i < t->folds; i++) {
        fold_sum(&t->fold[i], r, workspace);
        r = workspace;
        n /= t->fold[i].states;
    }
    for (size_t i = 0; i < n; i++) out[i] += r[i];
}

void cri_block_max(const cri_track *t, double *out, const double *r, size_t n)
{
    if (t->shape == CRI_STRAIGHT) {
        for (size_t i = 0; i < n; i++) out[i] = out[i] > r[i] ? out[i] : r[i];
    } else if (t->shape == CRI_CONSTANT) {
        double m = out[0];
        for (size_t i = 0; i < n; i++) m = m > r[i] ? m : r[i];
        out[0] = m;
    } else {
        for (size_t i = 0; i < n; i++) {
            double *o = &out[t->place[i]];
            *o = *o > r[i] ? *o : r[i];
        }
    }
}

void cri_block_argmax(double *out, uint16_t *arg, const double *r, size_t n, uint16_t which)
{
    for (size_t i = 0; i < n; i++) {
        if (r[i] > out[i]) {
            out[i] = r[i];
            arg[i] = which;
        }
    }
}

void cri_block_add_exp(const cri_track *t, double *out, const double *peak, const double *r,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = t->shape == CRI_STRAIGHT ? i : t->shape == CRI_CONSTANT ? 0 : t->place[i];
        if (r[i] > -INFINITY) out[at] += exp(r[i] - peak[at]);
    }
}

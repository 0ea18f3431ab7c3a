/* gp_terms.c -- moves of the search in a sum of kernels: one term at another length and amplitude,
 * or two terms exchanged.  The best moves become starts of the optimiser. */
#include "gp_rivals.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { LENGTHS = 6, NOISES = 4, LEADS = 3, ROUNDS = 3 };
static const double lengths[LENGTHS] = { 0.005, 0.02, 0.06, 0.2, 0.6, 2 };
static const double larger[LENGTHS] = {
    1, 10, 100, 1e3, 1e4, 1e5
}; /* by columns of little variance */
static const double lead_noises[LEADS] = { 0.01, 0.1, 0.5 };
static const double SHORT = 0.06,
                    QUIET_SHARE = 1e-3; /* of a term that leaves the data to another */
static const double noises[NOISES] = { 0, 1e-4, 1e-3,
                                       1e-2 }; /* of the target's variance, or more */
static const double SMALL_TERM = 1e-4;         /* of the target's variance */
static const double NO_LOSS = 1e-6;            /* nats */
static const double OTHER =
    0.01; /* nats: a smaller difference means that two equal terms were exchanged */

/* The kinds of moves, of each of which the best is kept: a term starts again; it takes variance from
 * the noise, or gives variance to it; one without a length grows; two terms are exchanged. */
enum way { RENEWS, TAKES, GIVES, GROWS, CHANGES, WAYS };

/* The variance that a term starts again with:
 *   QUIET    that of the noise
 *   INSTEAD  the same, while the noise falls to a tenth: the noise may have stood for the term
 *   LOUD     between that of the noise and that of the target, halfway in logarithms
 *   SAME     its own, while the noise rises to half of it at least: the term may have stood for noise
 *   WHOLE    that of the target, and far more, for a term without a length */
enum size { QUIET, INSTEAD, LOUD, SAME, WHOLE };
static const enum way way_of[WHOLE] = { RENEWS, TAKES, RENEWS, GIVES };

/* The logarithm of that variance over its unit. */
static double size_at(const cri_gp_space *u, const double *x, enum size size)
{
    double quiet = u->size > u->p ? fmin(x[u->p] - log(u->variance), log(0.1)) : log(0.01);
    return size == WHOLE ? 0 : size == LOUD ? quiet / 2 : quiet;
}

/* true when the term has a length of its own. */
static bool has_length(const cri_gp_space *u, size_t term)
{
    for (size_t j = 0; j < u->p; j++)
        if (u->term[j] == term && u->kind[j] == CRI_GP_LENGTH) return true;
    return false;
}

/* The one parameter of this kind of a term; SIZE_MAX when there is none, or more. */
static size_t the_only(const cri_gp_space *u, size_t term, int kind)
{
    size_t found = SIZE_MAX;
    for (size_t j = 0; j < u->p; j++)
        if (u->term[j] == term && u->kind[j] == kind) {
            if (found != SIZE_MAX) return SIZE_MAX;
            found = j;
        }
    return found;
}

/* The noise x_j beside a term that starts again, whose amplitude is or was x_a. */
static double noise_beside(const cri_gp_space *u, const double *x, size_t j, size_t a,
                           enum size size)
{
    double share = log(u->variance / (double)u->terms) - log(2);
    if (size == INSTEAD) return fmax(x[j] - log(10), u->lower[j]);
    if (size != SAME || a == SIZE_MAX) return x[j];
    return fmax(x[j], fmin(x[a] - u->unit[a] + share, u->upper[j]));
}

/* z := x, where one term starts again at this length; a term without a length becomes `length` times
 * as large.  false when that is about where it was. */
static bool renew(const cri_gp_space *u, const double *x, size_t term, double length,
                  enum size size, double *z)
{
    bool   other = false;
    double more = size == WHOLE ? log(length) : 0;
    memcpy(z, x, u->size * sizeof *z);
    for (size_t j = 0; j < u->p; j++) {
        if (u->term[j] != term || (u->kind[j] == CRI_GP_AMPLITUDE && size == SAME)) continue;
        z[j] = u->kind[j] == CRI_GP_LENGTH
                   ? u->unit[j] + (double)term * CRI_GP_TERM_STEP + log(length)
               : u->kind[j] == CRI_GP_AMPLITUDE ? u->unit[j] + size_at(u, x, size) + more
                                                : u->given[j];
        z[j] = fmin(fmax(z[j], u->lower[j]), u->upper[j]);
        if (u->kind[j] == CRI_GP_LENGTH) other |= fabs(z[j] - x[j]) > log(2.5);
        if (u->kind[j] == CRI_GP_AMPLITUDE) other |= x[j] - z[j] < -log(30);
    }
    size_t amplitude = the_only(u, term, CRI_GP_AMPLITUDE);
    for (size_t j = 0; j < u->size; j++)
        if (u->kind[j] == CRI_GP_NOISE) z[j] = noise_beside(u, x, j, amplitude, size);
    return other;
}

/* z := x with length and amplitude of two terms exchanged; false unless both terms have exactly one of
 * each. */
static bool exchange(const cri_gp_space *u, const double *x, size_t a, size_t b, double *z)
{
    static const int kinds[] = { CRI_GP_LENGTH, CRI_GP_AMPLITUDE };
    memcpy(z, x, u->size * sizeof *z);
    for (size_t j = 0; j < u->p; j++)
        if (u->kind[j] == CRI_GP_OTHER && (u->term[j] == a || u->term[j] == b))
            z[j] = fmin(fmax(u->given[j], u->lower[j]), u->upper[j]);
    for (size_t i = 0; i < 2; i++) {
        size_t m = the_only(u, a, kinds[i]), n = the_only(u, b, kinds[i]);
        if (m == SIZE_MAX || n == SIZE_MAX) return false;
        z[m] = fmin(fmax(x[n], u->lower[m]), u->upper[m]);
        z[n] = fmin(fmax(x[m], u->lower[n]), u->upper[n]);
    }
    return true;
}

/* Raises the noise of z to a share of the target's variance; false where it is as high already. */
static bool raise_noise(const cri_gp_space *u, double share, double *z)
{
    bool raised = false;
    for (size_t j = 0; j < u->size; j++) {
        double least = fmin(log(share * u->variance), u->upper[j]);
        if (u->kind[j] != CRI_GP_NOISE || z[j] >= least) continue;
        z[j] = least;
        raised = true;
    }
    return raised;
}

/* A term without a length at larger amplitudes.  From those next to its own the optimiser would return:
 * an amplitude is kept where its value is above those of its neighbours. */
static cr_status try_growth(cri_gp_optimiser *r, const cri_gp_point *from, size_t term, double *z,
                            cri_gp_rivals *rivals)
{
    cr_status           st = CR_OK;
    const cri_gp_space *u = &r->space;
    double              value[LENGTHS + 2] = { from->value };
    for (size_t l = 0; l < LENGTHS; l++) {
        value[l + 1] = value[l];
        if (renew(u, from->x, term, larger[l], WHOLE, z))
            CR_TRY(cri_gp_try(r, z, false, &value[l + 1]));
    }
    value[LENGTHS + 1] = -INFINITY;
    for (size_t l = 1; l <= LENGTHS; l++) {
        if (!(value[l] > value[l - 1] && value[l] >= value[l + 1])) continue;
        renew(u, from->x, term, larger[l - 1], WHOLE, z);
        cri_gp_rivals_keep(rivals, z, value[l], GROWS);
    }
done:
    return st;
}

/* The best move of each kind. */
static cr_status try_terms(cri_gp_optimiser *r, const cri_gp_point *from, double *z,
                           cri_gp_rivals *rivals)
{
    cr_status           st = CR_OK;
    const cri_gp_space *u = &r->space;
    const double       *x = from->x;
    double              value;
    cri_gp_rivals_clear(rivals, from);
    for (size_t t = 0; t < u->terms; t++) {
        if (!has_length(u, t)) CR_TRY(try_growth(r, from, t, z, rivals));
        for (size_t l = 0; has_length(u, t) && l < LENGTHS; l++)
            for (int i = 0; i < WHOLE; i++) {
                if (!renew(u, x, t, lengths[l], (enum size)i, z)) continue;
                CR_TRY(cri_gp_try(r, z, false, &value));
                cri_gp_rivals_keep(rivals, z, value, way_of[i]);
            }
    }
    for (size_t a = 0; a < u->terms; a++)
        for (size_t b = 0; b < a; b++) {
            if (!exchange(u, x, a, b, z)) continue;
            for (int i = 0; i < NOISES;
                 i++) { /* a smooth term may need noise for what a rough one met */
                if (i > 0 && !raise_noise(u, noises[i], z)) continue;
                CR_TRY(cri_gp_try(r, z, false, &value));
                if (fabs(value - from->value) > OTHER)
                    cri_gp_rivals_keep(rivals, z, value, CHANGES); /* else two of a kind */
            }
        }
done:
    return st;
}

/* z := a start with one term of this length, the others of little variance and short. */
static void lead(const cri_gp_space *u, size_t term, double length, double noise, double *z)
{
    cri_gp_start(u, length, noise, z);
    for (size_t j = 0; j < u->p; j++) {
        double apart = (double)u->term[j] * CRI_GP_TERM_STEP;
        bool   quiet = u->term[j] != term;
        if (u->kind[j] == CRI_GP_LENGTH) z[j] = u->unit[j] + apart + log(quiet ? SHORT : length);
        if (u->kind[j] == CRI_GP_AMPLITUDE && quiet) z[j] = u->unit[j] + log(QUIET_SHARE);
        z[j] = fmin(fmax(z[j], u->lower[j]), u->upper[j]);
    }
}

cr_status cri_gp_lead_by_term(cri_gp_optimiser *r, size_t term, cri_gp_point *point)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(r->cx);
    const cri_gp_space *u = &r->space;
    double             *z = cr_scratch_f64(&s, u->size), value;

    CR_TRY(s.status);
    point->value = -INFINITY;
    for (size_t l = LENGTHS / 2; l < LENGTHS; l++)
        for (size_t e = 0; e < LEADS; e++) {
            lead(u, term, lengths[l], lead_noises[e], z);
            CR_TRY(cri_gp_try(r, z, false, &value));
            if (!(value > point->value)) continue;
            memcpy(point->x, z, u->size * sizeof *z);
            point->value = value;
        }
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_drop_terms(cri_gp_optimiser *r, cri_gp_point *best, bool small_only)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(r->cx);
    const cri_gp_space *u = &r->space;
    double             *z = cr_scratch_f64(&s, u->size), *x = best->x, before = best->value;
    CR_TRY(s.status);
    for (size_t t = 0; t < u->terms; t++) {
        size_t at = the_only(u, t, CRI_GP_AMPLITUDE);
        double without;
        if (at == SIZE_MAX || x[at] == u->lower[at]) continue;
        bool small = x[at] < log(SMALL_TERM * u->variance);
        if (small_only && !small) continue;
        memcpy(z, x, u->size * sizeof *z);
        z[at] = u->lower[at];
        CR_TRY(cri_gp_try(r, z, false, &without));
        if (!(without > best->value - (small ? NO_LOSS : 0))) continue;
        best->value = without;
        x[at] = z[at];
    }
    if (best->value > before + NO_LOSS && r->problem == r->learning->problem &&
        cri_gp_may_ascend(r, best)) /* the others go on without it */
        CR_TRY(cri_gp_ascend(r, false, CRI_GP_FINE, r->learning->max_iter, NULL, best));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_gp_renew_terms(cri_gp_optimiser *r, cri_gp_point *best)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(r->cx);
    const cri_gp_space *u = &r->space;
    double             *z = cr_scratch_f64(&s, u->size);
    cri_gp_rivals       rivals;
    bool                gained = u->terms > 1 && cri_gp_may_ascend(r, best), any = false;

    CR_TRY(cri_gp_rivals_new(&s, r, WAYS, &rivals));
    for (size_t round = 0; gained && round < ROUNDS; round++) {
        CR_TRY(try_terms(r, best, z, &rivals));
        CR_TRY(cri_gp_rivals_ascend(&rivals, SIZE_MAX, best, &gained));
        any |= gained;
    }
    if (any && r->problem == r->learning->problem)
        CR_TRY(cri_gp_ascend(r, false, CRI_GP_FINE, r->learning->max_iter, NULL, best));
    if (u->terms > 1) CR_TRY(cri_gp_drop_terms(r, best, false));
done:
    cr_scratch_end(&s);
    return st;
}

/* gp_columns.c -- the length-scales of the columns, each in turn, at other lengths, and exchanged.
 * A column whose length-scale is far beyond the data has no gradient to come back by, and two
 * columns that tell the same story leave it to whichever began: local optima of the evidence, that
 * differ by some columns being in or out. */
#include "gp_rivals.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

enum { LENGTHS = 7, ROUNDS = 4, RIVALS = 2, MOST_EXCHANGED = 20 };
static const double lengths[LENGTHS] = {
    0.01, 0.1, 0.4, 1.5, 6, 25, INFINITY
}; /* infinity: left out */
static const double OTHER =
    0.9; /* of logarithms: less is the same length                         */
static const double SAME =
    0.05; /* below the best: the column hardly counts at either length      */
static const double HOPELESS =
    6; /* below the best: such moves have not led higher where tried      */

/* The moves from one point, and the best few of them. */
typedef struct moves {
    cri_gp_optimiser   *r;
    const cri_gp_point *from;
    double             *z;      /* [size] a move                             */
    cri_gp_rivals      *rivals; /* one for each column, the first that moved */
} moves;

/* The value at z, which differs by column j and perhaps others; it is kept where it may gain. */
static cr_status try_move(moves *m, size_t j)
{
    double    value;
    cr_status st = cri_gp_try(m->r, m->z, false, &value);
    double    lack = m->from->value - value;
    if (st == CR_OK && (lack < 0 || (lack > SAME && lack < HOPELESS)))
        cri_gp_rivals_keep(m->rivals, m->z, value, j);
    return st;
}

static double within(const cri_gp_space *u, size_t j, double x)
{
    return fmin(fmax(x, u->lower[j]), u->upper[j]);
}

/* Column j at other lengths. */
static cr_status try_lengths(moves *m, size_t j)
{
    cr_status           st = CR_OK;
    const cri_gp_space *u = &m->r->space;
    double              now = m->from->x[j];
    for (size_t l = 0; l < LENGTHS; l++) {
        m->z[j] = within(u, j, u->unit[j] + log(lengths[l]));
        if (fabs(m->z[j] - now) >= OTHER) CR_TRY(try_move(m, j));
    }
done:
    m->z[j] = now;
    return st;
}

/* Column j and each one before it of the same kernel with their lengths, in units, exchanged. */
static cr_status try_exchanges(moves *m, size_t j)
{
    cr_status           st = CR_OK;
    const cri_gp_space *u = &m->r->space;
    const double       *x = m->from->x;
    for (size_t i = 0; i < j; i++) {
        double a = x[i] - u->unit[i], b = x[j] - u->unit[j];
        if (u->tie[i] != u->tie[j] || fabs(a - b) < OTHER) continue;
        m->z[i] = within(u, i, u->unit[i] + b);
        m->z[j] = within(u, j, u->unit[j] + a);
        CR_TRY(try_move(m, j));
        m->z[i] = x[i];
    }
done:
    m->z[j] = x[j];
    return st;
}

/* The best move of each column, and of these the best few. */
static cr_status try_columns(cri_gp_optimiser *r, const cri_gp_point *from, double *z,
                             cri_gp_rivals *rivals)
{
    cr_status           st = CR_OK;
    const cri_gp_space *u = &r->space;
    size_t              columns = 0;
    moves               m = { r, from, z, rivals };
    cri_gp_rivals_clear(rivals, from);
    memcpy(z, from->x, u->size * sizeof *z);
    for (size_t j = 0; j < u->p; j++) columns += cri_gp_is_column(u, j);
    for (size_t j = 0; j < u->p; j++) {
        if (!cri_gp_is_column(u, j)) continue;
        CR_TRY(try_lengths(&m, j));
        if (columns <= MOST_EXCHANGED) CR_TRY(try_exchanges(&m, j));
    }
done:
    return st;
}

cr_status cri_gp_renew_columns(cri_gp_optimiser *r, cri_gp_point *best)
{
    cr_status           st = CR_OK;
    cr_scratch          s = cr_scratch_begin(r->cx);
    const cri_gp_space *u = &r->space;
    double             *z = cr_scratch_f64(&s, u->size);
    cri_gp_rivals       rivals;
    bool                gained = u->tied && cri_gp_may_ascend(r, best);

    CR_TRY(cri_gp_rivals_new(&s, r, RIVALS, &rivals));
    for (size_t round = 0; gained && round < ROUNDS; round++) {
        CR_TRY(try_columns(r, best, z, &rivals));
        CR_TRY(cri_gp_rivals_ascend(&rivals, SIZE_MAX, best, &gained));
    }
done:
    cr_scratch_end(&s);
    return st;
}

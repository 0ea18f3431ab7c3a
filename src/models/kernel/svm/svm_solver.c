/* svm_solver.c -- rounds of working sets, rows put aside, and the certificate. */
#include "svm_solver.h"
#include "svm_block.h"
#include "svm_rows.h"
#include "base/scratch.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    MOST_WORKING = 512,
    SHRINK_EVERY = 10,      /* rounds between looks at what may be put aside         */
    STEPS_A_VARIABLE = 200, /* within a working set                               */
    LEAST_WORKING = 64,     /* where there is a time limit                        */
    MOST_CHECKS = 50        /* fresh computations of F that find more to do          */
};

static const double WORTH = 0.2;  /* the share of rows that is worth putting aside        */
static const double DRIFT = 0.05; /* of the tolerance: how much rounding F may hold       */

typedef struct solver {
    cr_ctx                 *cx;
    const cri_svm_problem  *p;
    const cri_svm_settings *o;
    cri_svm_solution       *x;
    size_t                  n, m, q;             /* variables, rows, size of the working set     */
    double                 *beta, *least, *most; /* [n]                              */
    double                 *F;                   /* [m], of active rows; of all once fresh */
    unsigned char          *row_active;          /* [m]                              */
    unsigned char          *chosen;              /* [n] in the working set           */
    size_t                 *set, *former, n_set,
        n_former;                 /* [q] the working sets of this round and the one before */
    size_t      *up, *low;        /* [n] workspace                    */
    double      *rowsum;          /* [m] change of beta by row, 0 in between */
    size_t      *changed;         /* [m] workspace                    */
    double      *coef;            /* [m] workspace                    */
    double       diagonal, moved; /* that; sum of |change of beta| since F was fresh */
    double       middle[2];       /* of the extremes of v, by group   */
    bool         aside;           /* some rows are                    */
    cri_svm_rows rows;
} solver;

static size_t row_of(const solver *s, size_t t) { return s->p->opt_row ? s->p->opt_row[t] : t; }

static double v_of(const solver *s, size_t t)
{
    return -(s->F[row_of(s, t)] + s->p->sign[t] * s->p->linear[t]);
}

static unsigned char group_of(const solver *s, size_t t)
{
    return s->p->groups && s->p->sign[t] > 0;
}

static bool may_grow(const solver *s, size_t t) { return s->beta[t] < s->most[t]; }
static bool may_fall(const solver *s, size_t t) { return s->beta[t] > s->least[t]; }

/* Of one group, over active rows: the largest v that may grow and the smallest that may fall. */
typedef struct extremes {
    double up[2], low[2], violation;
} extremes;

static extremes look(const solver *s)
{
    extremes e = { { -INFINITY, -INFINITY }, { INFINITY, INFINITY }, 0 };
    for (size_t t = 0; t < s->n; t++) {
        if (!s->row_active[row_of(s, t)]) continue;
        double        v = v_of(s, t);
        unsigned char g = group_of(s, t);
        if (may_grow(s, t) && v > e.up[g]) e.up[g] = v;
        if (may_fall(s, t) && v < e.low[g]) e.low[g] = v;
    }
    for (int g = 0; g < 2; g++)
        if (e.up[g] - e.low[g] > e.violation) e.violation = e.up[g] - e.low[g];
    return e;
}

/* --- F --------------------------------------------------------------------------------------- */

/* F of all rows from beta alone, in double. */
static cr_status refresh(solver *s)
{
    cr_status       st = CR_OK;
    cr_scratch      a = cr_scratch_begin(s->cx);
    size_t          count = 0;
    cr_kernel_input at;
    for (size_t t = 0; t < s->n; t++) s->rowsum[row_of(s, t)] += s->beta[t];
    for (size_t r = 0; r < s->m; r++)
        if (s->rowsum[r] != 0) s->changed[count] = r, s->coef[count++] = s->rowsum[r];
    memset(s->rowsum, 0, s->m * sizeof *s->rowsum);
    memset(s->F, 0, s->m * sizeof *s->F);
    s->moved = 0;
    if (count == 0) goto done;
    if (s->p->opt_gram) {
        CR_TRY(cri_svm_rows_add(&s->rows, s->changed, s->coef, count, s->F));
    } else {
        CR_TRY(cri_svm_pick(&a, &s->p->rows, s->changed, count, &at));
        CR_TRY(cri_svm_values(s->cx, s->p->kernel, &at, s->coef, 1, &s->p->rows, s->F));
    }
done:
    cr_scratch_end(&a);
    return st;
}

/* true where rounding in kept rows can have made a difference to the stopping rule. */
static bool has_drifted(const solver *s)
{
    double unit = s->rows.wide || s->rows.gram ? 1e-15 : 6e-8;
    return unit * s->moved * s->diagonal > DRIFT * s->o->tol;
}

/* Whether the time limit leaves what a fresh computation of F takes, going by the kernel rows so far. */
static bool has_time(const solver *s)
{
    double left = cri_time_left(s->cx), support = 0;
    if (isinf(left) || s->p->opt_gram || s->rows.computed == 0) return true;
    for (size_t t = 0; t < s->n; t++) support += s->beta[t] != 0;
    return support * (double)s->m * (s->rows.seconds / s->rows.computed) < left / 2;
}

/* Variables of a round: where there is a time limit few at first, and then as many as it leaves time for. */
static size_t working_size(const solver *s)
{
    double left = cri_time_left(s->cx), most = LEAST_WORKING;
    if (isinf(left) || s->p->opt_gram) return s->q;
    if (s->rows.computed > 0)
        most = left / 4 / (s->rows.seconds / s->rows.computed * (double)s->rows.active);
    if (most < LEAST_WORKING) most = LEAST_WORKING;
    return most < (double)s->q ? (size_t)most : s->q;
}

static cr_status activate_all(solver *s)
{
    cri_svm_rows_restore(&s->rows);
    memset(s->row_active, 1, s->m);
    s->aside = false;
    return refresh(s);
}

/* --- rows put aside -------------------------------------------------------------------------- */

/* Marks rows of which some variable may yet move: one at a bound whose v is within the extremes does not. */
static void shrink_marks(const solver *s, const extremes *e, unsigned char *keep)
{
    memset(keep, 0, s->m);
    for (size_t t = 0; t < s->n; t++) {
        size_t r = row_of(s, t);
        if (!s->row_active[r] || keep[r]) continue;
        unsigned char g = group_of(s, t);
        double        v = v_of(s, t);
        bool          grow = may_grow(s, t), fall = may_fall(s, t);
        keep[r] = (grow && fall) || (grow && v >= e->low[g]) || (fall && v <= e->up[g]);
    }
}

static cr_status shrink(solver *s, const extremes *e)
{
    cr_status      st = CR_OK;
    cr_scratch     a = cr_scratch_begin(s->cx);
    unsigned char *keep = cr_scratch_bytes(&a, s->m, 1);
    size_t         left = 0;
    CR_TRY(a.status);
    shrink_marks(s, e, keep);
    for (size_t r = 0; r < s->m; r++) left += keep[r];
    if (left < 2 || (double)left > (1 - WORTH) * (double)s->rows.active) goto done;
    CR_TRY(cri_svm_rows_shrink(&s->rows, keep));
    memcpy(s->row_active, keep, s->m);
    s->aside = true;
done:
    cr_scratch_end(&a);
    return st;
}

/* --- the working set ------------------------------------------------------------------------- */

/* How far v is from the middle of its group. */
static double excess(const solver *s, size_t t) { return v_of(s, t) - s->middle[group_of(s, t)]; }

static bool before(const solver *s, size_t t, size_t u, double sign)
{
    double a = sign * excess(s, t), b = sign * excess(s, u);
    return a > b || (a == b && t < u);
}

/* Moves the k variables of largest (sign 1) or smallest (-1) excess to the front, in some order; of equal ones those of
 * smaller number.  O(n). */
static void choose_front(const solver *s, size_t *list, size_t n, size_t k, double sign)
{
    size_t begin = 0, end = n;
    while (k > begin && k < end && end - begin > 1) {
        size_t a = list[begin], b = list[begin + (end - begin) / 2], c = list[end - 1];
        size_t pivot = before(s, a, b, sign)   ? before(s, b, c, sign)   ? b
                                                 : before(s, a, c, sign) ? c
                                                                         : a
                       : before(s, a, c, sign) ? a
                       : before(s, b, c, sign) ? c
                                               : b;
        size_t i = begin;
        size_t at = begin;
        for (; at < end; at++)
            if (before(s, list[at], pivot, sign)) {
                size_t keep = list[i];
                list[i++] = list[at], list[at] = keep;
            }
        /* [begin, i) come before the pivot; it goes next */
        for (at = i; list[at] != pivot;) at++;
        list[at] = list[i], list[i] = pivot;
        if (k <= i)
            end = i;
        else
            begin = i + 1;
    }
}

static void take(solver *s, size_t t)
{
    if (s->chosen[t]) return;
    s->chosen[t] = 1;
    s->set[s->n_set++] = t;
}

/* The largest violators of both kinds in equal parts; then those of the set before, free ones first. */
static void choose(solver *s, const extremes *e)
{
    size_t ups = 0, lows = 0, half, q = working_size(s);
    memcpy(s->former, s->set, s->n_set * sizeof *s->set);
    s->n_former = s->n_set;
    for (size_t i = 0; i < s->n_former; i++) s->chosen[s->former[i]] = 0;
    s->n_set = 0;
    size_t fresh = s->n_former && q < s->n ? q / 2 : q;
    for (int g = 0; g < 2; g++) s->middle[g] = (e->up[g] + e->low[g]) / 2;
    if (fresh < 2) fresh = 2;
    for (size_t t = 0; t < s->n; t++) {
        if (!s->row_active[row_of(s, t)]) continue;
        unsigned char g = group_of(s, t);
        double        v = v_of(s, t);
        if (may_grow(s, t) && v > e->low[g]) s->up[ups++] = t;
        if (may_fall(s, t) && v < e->up[g]) s->low[lows++] = t;
    }
    half = fresh / 2;
    size_t nu = ups < half ? ups : half, nl = lows < half ? lows : half;
    if (nu < half) nl = lows < fresh - nu ? lows : fresh - nu;
    if (nl < half) nu = ups < fresh - nl ? ups : fresh - nl;
    choose_front(s, s->up, ups, nu, 1);
    choose_front(s, s->low, lows, nl, -1);
    for (size_t i = 0; i < nu || i < nl; i++) {
        if (i < nu) take(s, s->up[i]);
        if (i < nl) take(s, s->low[i]);
    }
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < s->n_former && s->n_set < q; i++) {
            size_t t = s->former[i];
            bool   is_free = may_grow(s, t) && may_fall(s, t);
            if (s->row_active[row_of(s, t)] && is_free == (pass == 0)) take(s, t);
        }
}

/* --- a round --------------------------------------------------------------------------------- */

/* The kernel among the rows of the working set, which `place` numbers. */
static cr_status block_kernel(solver *s, cr_scratch *a, const size_t *row, size_t k, double *K)
{
    cr_status       st = CR_OK;
    cr_kernel_input in;
    if (s->p->opt_gram) {
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++) K[i * k + j] = s->p->opt_gram[row[i] * s->m + row[j]];
        return CR_OK;
    }
    CR_TRY(cri_svm_pick(a, &s->p->rows, row, k, &in));
    CR_TRY(cr_kernel_cross(s->cx, s->p->kernel, &in, &in, cr_mat_of(K, k, k)));
done:
    return st;
}

/* The distinct rows of the set into row, place[i] of each variable among them; how many. */
static size_t distinct_rows(solver *s, size_t *row, size_t *place)
{
    size_t k = 0;
    for (size_t i = 0; i < s->n_set; i++) {
        size_t r = row_of(s, s->set[i]);
        size_t j = 0;
        if (!s->p->opt_row)
            j = k;
        else
            while (j < k && row[j] != r) j++;
        if (j == k) row[k++] = r;
        place[i] = j;
    }
    return k;
}

static cr_status round_of(solver *s, double tol)
{
    cr_status      st = CR_OK;
    cr_scratch     a = cr_scratch_begin(s->cx);
    size_t         q = s->n_set, k, count = 0, steps = 0;
    size_t        *row = cr_scratch_index(&a, q), *place = cr_scratch_index(&a, q);
    double        *K = cr_scratch_matrix(&a, q, q);
    double        *w = cr_scratch_matrix(&a, 4, q);
    unsigned char *group = cr_scratch_bytes(&a, q, 1);

    CR_TRY(a.status);
    k = distinct_rows(s, row, place);
    CR_TRY(block_kernel(s, &a, row, k, K));
    cri_svm_block b = { .q = q,
                        .K = K,
                        .stride = k,
                        .row = place,
                        .beta = w,
                        .v = w + q,
                        .least = w + 2 * q,
                        .most = w + 3 * q,
                        .group = group };
    for (size_t i = 0; i < q; i++) {
        size_t t = s->set[i];
        b.beta[i] = s->beta[t];
        b.v[i] = v_of(s, t);
        w[2 * q + i] = s->least[t];
        w[3 * q + i] = s->most[t];
        group[i] = group_of(s, t);
    }
    size_t left = s->o->max_iter - s->x->steps, most = STEPS_A_VARIABLE * q;
    CR_TRY(cri_svm_block_solve(s->cx, &b, tol, most < left ? most : left, &steps));
    s->x->steps += steps;
    for (size_t i = 0; i < q; i++) {
        size_t t = s->set[i];
        double change = b.beta[i] - s->beta[t];
        s->beta[t] = b.beta[i];
        s->rowsum[row_of(s, t)] += change;
        s->moved += fabs(change);
    }
    for (size_t i = 0; i < k; i++) {
        if (s->rowsum[row[i]] != 0)
            s->changed[count] = row[i], s->coef[count++] = s->rowsum[row[i]];
        s->rowsum[row[i]] = 0;
    }
    CR_TRY(cri_svm_rows_add(&s->rows, s->changed, s->coef, count, s->F));
done:
    cr_scratch_end(&a);
    return st;
}

/* --- the whole ------------------------------------------------------------------------------- */

static cr_status run(solver *s)
{
    cr_status st = CR_OK;
    size_t    checks = 0, stalled = 0;
    bool      may_shrink = s->o->shrink;
    for (;; s->x->rounds++) {
        CR_TRY(cr_check_interrupt(s->cx));
        extremes e = look(s);
        bool     small = e.violation <= s->o->tol;
        if (small || stalled > 3) {
            if (!s->aside && !has_drifted(s)) break;
            s->x->late = !has_time(s);
            if (s->x->late) break;
            may_shrink = false; /* the end is near: rows that come back stay */
            CR_TRY(activate_all(s));
            if (++checks > MOST_CHECKS) break;
            stalled = 0;
            e = look(s);
            if (e.violation <= s->o->tol) break;
        }
        if (s->x->steps >= s->o->max_iter) break;
        s->x->late = s->x->rounds > 0 && cri_clock_over(&s->o->clock);
        if (s->x->late) break;
        if (may_shrink && s->x->rounds % SHRINK_EVERY == SHRINK_EVERY - 1) CR_TRY(shrink(s, &e));
        choose(s, &e);
        size_t steps = s->x->steps;
        CR_TRY(round_of(s, fmax(0.1 * e.violation, 0.5 * s->o->tol)));
        stalled = s->x->steps == steps ? stalled + 1 : 0;
    }
done:
    return st;
}

/* b: the middle of what free variables say, or of the extremes. */
static void multipliers(solver *s, const extremes *e)
{
    double sum[2] = { 0, 0 };
    size_t count[2] = { 0, 0 };
    for (size_t t = 0; t < s->n; t++)
        if (may_grow(s, t) && may_fall(s, t)) {
            unsigned char g = group_of(s, t);
            sum[g] += v_of(s, t);
            count[g]++;
        }
    for (int g = 0; g < 2; g++) {
        double middle = isinf(e->up[g])    ? isinf(e->low[g]) ? 0 : e->low[g]
                           : isinf(e->low[g]) ? e->up[g]
                                           : (e->up[g] + e->low[g]) / 2;
        s->x->b[g] = count[g] ? sum[g] / (double)count[g] : middle;
    }
    if (!s->p->groups) s->x->b[1] = s->x->b[0];
}

static void certify(solver *s)
{
    extremes          e = look(s);
    cri_svm_solution *x = s->x;
    multipliers(s, &e);
    x->violation = e.violation;
    x->converged = e.violation <= s->o->tol;
    x->gap = x->quadratic = x->objective = 0;
    for (size_t t = 0; t < s->n; t++) {
        double y = s->p->sign[t], a = y * s->beta[t];
        double slack = y * (v_of(s, t) - x->b[group_of(s, t)]);
        x->alpha[t] = a;
        x->quadratic += s->beta[t] * s->F[row_of(s, t)];
        x->objective += s->p->linear[t] * a;
        x->gap +=
            slack > 0 ? may_grow(s, t) || y < 0 ? (s->p->upper[t] - a) * slack : 0 : -slack * a;
    }
    x->objective += x->quadratic / 2;
}

static cr_status check(cr_ctx *cx, const cri_svm_problem *p, const cri_svm_solution *x)
{
    for (size_t t = 0; t < p->n; t++)
        if (!(p->upper[t] > 0 && isfinite(p->upper[t])) ||
            !(x->alpha[t] >= 0 && x->alpha[t] <= p->upper[t]) || isnan(p->linear[t]))
            return cr_fail(cx, CR_EARG, "svm: variable %zu begins at %g, but must be in 0 .. %g", t,
                           x->alpha[t], p->upper[t]);
    return CR_OK;
}

static cr_status start(solver *s, cr_scratch *a)
{
    cr_status st = CR_OK;
    size_t    n = s->n, m = s->m, memory = cri_svm_rows_memory(s->cx, s->o->memory);
    bool      zero = true;
    s->q = s->o->working ? s->o->working : MOST_WORKING;
    if (s->q > n) s->q = n;
    s->beta = cr_scratch_f64(a, n);
    s->least = cr_scratch_f64(a, n);
    s->most = cr_scratch_f64(a, n);
    s->row_active = cr_scratch_bytes(a, m, 1);
    s->chosen = cr_scratch_bytes(a, n, 1);
    s->set = cr_scratch_index(a, s->q + 2);
    s->former = cr_scratch_index(a, s->q + 2);
    s->up = cr_scratch_index(a, n);
    s->low = cr_scratch_index(a, n);
    s->rowsum = cr_scratch_bytes(a, m, sizeof(double));
    s->changed = cr_scratch_index(a, m);
    s->coef = cr_scratch_f64(a, m);
    CR_TRY(a->status);
    CR_TRY(cri_svm_rows_open(s->cx, s->p->kernel, &s->p->rows, s->p->opt_gram, memory, &s->rows));
    if (s->p->opt_gram)
        for (size_t i = 0; i < m; i++) s->coef[i] = s->p->opt_gram[i * m + i];
    else
        CR_TRY(cr_kernel_diagonal(s->cx, s->p->kernel, &s->p->rows, false, s->coef));
    for (size_t i = 0; i < m; i++) s->diagonal = fmax(s->diagonal, fabs(s->coef[i]));
    for (size_t t = 0; t < n; t++) {
        double y = s->p->sign[t];
        s->beta[t] = y * s->x->alpha[t];
        s->least[t] = y > 0 ? 0 : -s->p->upper[t];
        s->most[t] = y > 0 ? s->p->upper[t] : 0;
        zero &= s->beta[t] == 0;
    }
    memset(s->row_active, 1, m);
    if (zero)
        memset(s->F, 0, m * sizeof *s->F);
    else
        CR_TRY(refresh(s));
done:
    return st;
}

cr_status cri_svm_solve(cr_ctx *cx, const cri_svm_problem *p, const cri_svm_settings *o,
                        cri_svm_solution *x)
{
    cr_status  st = CR_OK;
    cr_scratch a = cr_scratch_begin(cx);
    solver s = { .cx = cx, .p = p, .o = o, .x = x, .n = p->n, .m = p->rows.rows, .F = x->value };

    x->steps = x->rounds = 0;
    x->converged = x->late = false;
    CR_TRY(check(cx, p, x));
    CR_TRY(start(&s, &a));
    CR_TRY(run(&s));
    if ((s.aside || has_drifted(&s)) && has_time(&s)) CR_TRY(activate_all(&s));
    certify(&s);
    if (s.aside)
        x->converged = false, x->gap = INFINITY; /* nobody has looked at the rows put aside */
done:
    cri_svm_rows_close(&s.rows);
    cr_scratch_end(&a);
    return st;
}

/* separation.c -- finding and naming the columns that separate the classes. */
#include "separation.h"
#include "base/quoted.h"
#include "base/scratch.h"

#include <math.h>
#include <string.h>

const char *cri_separation_name(cri_separation kind)
{
    static const char *const names[] = { "none", "perfect", "quasi-complete" };
    return names[kind];
}

/* --- columns that separate alone ------------------------------------------------------------- */

/* low, high [classes x q]: the range of each column in each class; z of sparse rows as x. */
typedef struct ranges {
    double *low, *high;
    size_t *entries;   /* [classes x q] of sparse rows: how many are not left out */
    size_t *rows;      /* [classes] */
    double *workspace; /* [q] */
} ranges;

static void widen(ranges *r, size_t at, double z, bool first)
{
    r->low[at] = first || z < r->low[at] ? z : r->low[at];
    r->high[at] = first || z > r->high[at] ? z : r->high[at];
}

/* O(entries). */
static void find_sparse_ranges(const cri_likelihood *f, ranges *r)
{
    const cri_classifier_rows *x = f->x;
    for (size_t i = 0; i < x->n; i++) {
        size_t end, a = cri_entries_row(&x->entries, i, &end), k = f->y[i];
        if (x->w && !(x->w[i] > 0)) continue;
        for (; a < end; a++) {
            size_t at = k * x->q + x->intercept + x->entries.column[a];
            widen(r, at, x->entries.value[a], r->entries[at]++ == 0);
        }
        r->rows[k]++;
    }
}

/* What is left out of sparse rows is 0. */
static void add_zeros(const cri_likelihood *f, ranges *r)
{
    size_t q = f->x->q;
    for (size_t at = 0; at < (f->M + 1) * q; at++)
        if (r->entries[at] < r->rows[at / q]) widen(r, at, 0, r->entries[at] == 0);
}

/* O(n q). */
static void find_dense_ranges(const cri_likelihood *f, ranges *r)
{
    const cri_classifier_rows *x = f->x;
    for (size_t i = 0; i < x->n; i++) {
        size_t k = f->y[i];
        if (x->w && !(x->w[i] > 0)) continue;
        const double *z = cri_classifier_rows_block(x, i, 1, 1, r->workspace);
        for (size_t j = 0; j < x->q; j++) widen(r, k * x->q + j, z[j], r->rows[k] == 0);
        r->rows[k]++;
    }
}

static cr_status find_ranges(cr_ctx *cx, void *arg, const cri_likelihood *part)
{
    if (part->x->sparse)
        find_sparse_ranges(part, arg);
    else
        find_dense_ranges(part, arg);
    return cr_check_interrupt(cx);
}

/* Whether column j alone puts some class wholly on one side of all others: 2 with a gap, 1
 * touching, 0 not. */
static int splits(const ranges *r, size_t classes, size_t q, size_t j)
{
    const double *low = r->low, *high = r->high;
    int           best = 0;
    for (size_t k = 0; k < classes; k++) {
        double below = -INFINITY, above = INFINITY, lo = low[k * q + j], hi = high[k * q + j];
        if (!r->rows[k]) continue;
        for (size_t l = 0; l < classes; l++) {
            if (l == k || !r->rows[l]) continue;
            below = fmax(below, high[l * q + j]);
            above = fmin(above, low[l * q + j]);
        }
        bool varies = below != above || lo != hi || below != lo;
        if (lo > below || hi < above) return 2;
        if (varies && (lo >= below || hi <= above)) best = 1;
    }
    return best;
}

/* The most decisive ones; false when no column separates alone. */
static cr_status blame_single(cr_ctx *cx, const cri_likelihood *f, int least, bool *blame,
                              bool *out_any)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     q = f->x->q, classes = f->M + 1;
    ranges     r = { .low = cr_scratch_matrix(&s, classes, q),
                     .high = cr_scratch_matrix(&s, classes, q),
                     .entries = cr_scratch_bytes(&s, classes * q, sizeof *r.entries),
                     .rows = cr_scratch_bytes(&s, classes, sizeof *r.rows),
                     .workspace = cr_scratch_f64(&s, q) };

    CR_TRY(s.status);
    CR_TRY(cri_likelihood_each(cx, f, find_ranges, &r));
    if (f->x->sparse) add_zeros(f, &r);
    *out_any = false;
    for (size_t j = f->x->intercept; j < q; j++) {
        blame[j] = splits(&r, classes, q, j) >= least;
        *out_any = *out_any || blame[j];
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* --- directions ------------------------------------------------------------------------------ */

static void blame_direction(const cri_likelihood *f, const double *d, double share, bool *blame)
{
    size_t q = f->x->q;
    double most = 0;
    for (size_t a = 0; a < f->M * q; a++) most = fmax(most, fabs(d[a]));
    for (size_t a = 0; a < f->M * q; a++)
        if (fabs(d[a]) > share * most) blame[a % q] = true;
}

cr_status cri_find_separation(cr_ctx *cx, const cri_likelihood *f, const cri_solution *s,
                              cri_separation *out_kind, bool *blame, bool *endless)
{
    cr_status st = CR_OK;
    double    least = -1, largest = 0;
    bool      alone = false;

    *out_kind = CRI_NOT_SEPARATED;
    memset(blame, 0, f->x->q * sizeof(bool));
    memset(endless, 0, f->x->q * sizeof(bool));
    if (s->wrong == 0) {
        *out_kind = CRI_SEPARATED_PERFECTLY;
        CR_TRY(blame_single(cx, f, 2, blame, &alone));
        if (!alone) blame_direction(f, s->theta, 0.05, blame);
        memset(endless, true, f->x->q * sizeof(bool));
        goto done;
    }
    if (!(s->moved > 0.1)) goto done; /* the estimate stands still */
    CR_TRY(cri_likelihood_margins(cx, f, s->step, &least, &largest));
    if (!(least > -1e-3 * largest)) goto done;
    *out_kind = CRI_SEPARATED_PARTLY;
    blame_direction(f, s->step, 1e-3, endless);
    CR_TRY(blame_single(cx, f, 1, blame, &alone));
    if (!alone) memcpy(blame, endless, f->x->q * sizeof(bool));
done:
    return st;
}

/* --- one class and the rest ------------------------------------------------------------------ */

static const cri_solve_options TO_THE_END = { .solver = CRI_SOLVER_NEWTON,
                                              .tol = 1e-14,
                                              .max_iter = CR_COUNT_UNSET };

/* The trace of the information about class k, whose scores are free; k = M is the reference. It
 * goes to 0 with the doubt about the class. */
static double information_of(const cri_likelihood *f, const double *H, size_t k)
{
    size_t q = f->x->q, D = f->M * q;
    double trace = 0;
    for (size_t j = 0; j < q; j++) {
        if (k < f->M) trace += H[(k * q + j) * D + k * q + j];
        for (size_t a = 0; k == f->M && a < f->M; a++)
            for (size_t b = 0; b < f->M; b++) trace += H[(a * q + j) * D + b * q + j];
    }
    return trace;
}

/* Class k against the rest: y 0 of its rows and 1 of the others, own [n] and place [classes]. */
static cri_likelihood against_rest(const cri_likelihood *f, size_t k, size_t classes, uint32_t *own,
                                   double *place)
{
    cri_likelihood g = { .x = f->x, .y = own, .M = 1, .step = 1, .passes = f->passes };
    for (size_t i = 0; i < f->x->n; i++) own[i] = f->y[i] != k;
    for (size_t c = 0; f->passes && c < classes; c++)
        place[c] = f->place[c] < 0 ? -1 : f->place[c] != (double)k;
    if (f->passes) g.place = place;
    return g;
}

cr_status cri_find_apart(cr_ctx *cx, const cri_likelihood *f, const cri_solution *s, bool *apart,
                         bool *blame)
{
    const double   MOST_WORK = 3e7;
    cr_status      st = CR_OK;
    cr_scratch     workspace = cr_scratch_begin(cx);
    size_t         q = f->x->q, classes = f->M + 1, K = cr_design_classes(f->x->rows->design);
    uint32_t      *own = cr_scratch_bytes(&workspace, f->x->n, sizeof *own);
    double        *place = cr_scratch_f64(&workspace, K);
    double        *weight = cr_scratch_f64(&workspace, classes), rows = 0;
    bool          *mine = cr_scratch_bytes(&workspace, q, sizeof(bool));
    bool          *endless = cr_scratch_bytes(&workspace, q, sizeof(bool));
    cri_solution   two = { 0 };
    cri_separation kind;

    CR_TRY(workspace.status);
    CR_TRY(cri_likelihood_classes(cx, f, weight, &rows));
    double work = rows * (double)q * (double)q;
    bool   all = s->solver != CRI_SOLVER_NEWTON && work * (double)classes <= MOST_WORK;
    for (size_t k = 0; k < classes && work <= MOST_WORK; k++) {
        bool certain =
            s->hessian && information_of(f, s->hessian, k) <= 1e-2 * weight[k] * (double)q;
        if (!all && !certain) continue;
        cri_likelihood g = against_rest(f, k, K, own, place);
        CR_TRY(cri_solve(cx, &g, &TO_THE_END, false, &two));
        CR_TRY(cri_find_separation(cx, &g, &two, &kind, mine, endless));
        cri_solution_free(cx, &two);
        apart[k] = kind != CRI_NOT_SEPARATED;
        for (size_t j = 0; apart[k] && j < q; j++) blame[j] = blame[j] || mine[j];
    }
done:
    cri_solution_free(cx, &two);
    cr_scratch_end(&workspace);
    return st;
}

cr_status cri_test_separation(cr_ctx *cx, const cri_rows *rows, bool intercept, const uint32_t *y,
                              cri_separation *out_kind, bool *blame, bool *endless)
{
    cr_status           st = CR_OK;
    cri_classifier_rows x = { 0 };
    cri_solution        s = { 0 };
    cri_likelihood      f = { .x = &x, .y = y, .M = 1, .step = 1 };
    CR_TRY(cri_classifier_rows_new(cx, rows, intercept, true, &x));
    CR_TRY(cri_solve(cx, &f, &TO_THE_END, false, &s));
    CR_TRY(cri_find_separation(cx, &f, &s, out_kind, blame, endless));
done:
    cri_solution_free(cx, &s);
    cri_classifier_rows_free(cx, &x);
    return st;
}

void cri_warn_separation(cr_ctx *cx, const cr_design *design, bool intercept, cri_separation kind,
                         const bool *blame, const char *remedy)
{
    cri_quoted list = { .most = 8 };
    for (size_t j = intercept; j < cr_design_terms(design) + intercept; j++)
        if (blame[j]) cri_quoted_add(&list, cr_design_term_name(design, j - intercept));
    cr_log(cx, CR_LOG_WARNING,
           "the classes are separated %s by %s: there is no maximum likelihood estimate; the "
           "coefficients shown are diverging and have no standard errors; use %s",
           kind == CRI_SEPARATED_PERFECTLY ? "perfectly" : "quasi-completely",
           list.n ? cri_quoted_text(&list) : "the intercept alone", remedy);
}

/* bn_errors.c -- how much less rows with gaps tell of a table than complete ones would.
 * With expected counts n, prior a and probabilities p, the observed information about the entries is
 *   diag((n + a) / p^2)  -  sum over pieces of weight Cov(u),    u_i = 1 / p_i where entry i is used, else 0
 * (Louis 1982): that of complete rows less that of what is missing given what is seen.  Restricted to rows of tables that
 * sum to one and inverted it gives variances; kept is the share of the variance of complete rows in that, 1 where nothing
 * is missing.  A probability then has the standard deviation of a Dirichlet distribution of so much smaller a sample.
 * O(entries^3 + pieces terms^2); of more than 600 entries it is not computed, nor where the information is singular.
 * Louis (1982), Finding the observed information matrix when using the EM algorithm, J. Royal Stat. Soc. B 44. */
#include "bn_pieces.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <math.h>
#include <string.h>

enum { MOST_ENTRIES = 600, MOST_TOUCHED = 4096 };
static const double NEGLIGIBLE = 1e-8; /* a probability that is not counted as a parameter */

typedef struct problem {
    const cri_bn_counter *c;
    const double         *p, *count; /* [size] */
    size_t                size, free;
    size_t               *place; /* [size] of the free parameters, CR_NONE: none */
    double               *full;  /* [size x size] the information about entries */
    double               *mean;  /* [size] */
    size_t               *touched;
    double               *term;
} problem;

static bool is_small_enough(const cri_bn_counter *c)
{
    bool small = c->m->size <= MOST_ENTRIES && c->tree_rows == 0;
    for (size_t k = 0; k < c->shapes; k++)
        small &= c->shape[k].states * c->shape[k].tables <= MOST_TOUCHED;
    return small;
}

/* Takes off what a piece leaves open: weight times the covariance of u over its completions. */
static void take_off_piece(problem *x, const cri_bn_piece *a)
{
    const cri_bn_shape *b = &x->c->shape[a->shape];
    double              sum = cri_bn_sum_piece(x->c, a, x->term);
    size_t              n = 0;
    for (size_t i = 0; i < b->states && sum > 0; i++) {
        const uint32_t *offset = b->offset + i * b->tables;
        double          share = x->term[i] / sum;
        for (size_t t = 0; t < b->tables && share > 0; t++) {
            size_t e = a->entry[t] + offset[t];
            if (x->mean[e] == 0) x->touched[n++] = e;
            x->mean[e] += share / x->p[e];
            for (size_t k = 0; k < b->tables; k++) {
                size_t f = a->entry[k] + offset[k];
                x->full[e * x->size + f] -= a->weight * share / x->p[e] / x->p[f];
            }
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            x->full[x->touched[i] * x->size + x->touched[k]] +=
                a->weight * x->mean[x->touched[i]] * x->mean[x->touched[k]];
    for (size_t i = 0; i < n; i++) x->mean[x->touched[i]] = 0;
}

static void fill_information(problem *x)
{
    const cri_bn *m = x->c->m;
    memset(x->full, 0, x->size * x->size * sizeof *x->full);
    memset(x->mean, 0, x->size * sizeof *x->mean);
    for (size_t i = 0; i < x->size; i++)
        x->full[i * x->size + i] = (x->count[i] + m->prior[i]) / x->p[i] / x->p[i];
    for (size_t k = 0; k < x->c->pieces; k++) take_off_piece(x, &x->c->piece[k]);
}

/* The entry of a row that stands for one less the others: its largest. */
static size_t largest_of(const double *p, size_t at, size_t n)
{
    size_t best = at;
    for (size_t i = at; i < at + n; i++)
        if (p[i] > p[best]) best = i;
    return best;
}

/* Free parameters: all entries of a row but its largest and those that are next to nothing.  rest [size]: that entry. */
static void choose_free(problem *x, size_t *rest)
{
    for (size_t v = 0; v < x->c->data->p; v++) {
        cri_bn_table t = cri_bn_table_of(x->c->m, v);
        for (size_t i = t.at; i < t.at + t.rows * t.states; i++) {
            size_t row = i - (i - t.at) % t.states;
            double sum = 0;
            for (size_t k = row; k < row + t.states; k++) sum += x->count[k] + x->c->m->prior[k];
            rest[i] = largest_of(x->p, row, t.states);
            x->place[i] = i != rest[i] && x->p[i] > NEGLIGIBLE && sum > 0 ? x->free++ : CR_NONE;
        }
    }
}

/* Information about the free parameters: dp of the entry that stands for the rest is minus theirs. */
static void restrict_rows(const problem *x, const size_t *rest, double *out)
{
    size_t n = x->size;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            if (x->place[i] == CR_NONE || x->place[k] == CR_NONE) continue;
            size_t a = rest[i], b = rest[k];
            out[x->place[i] * x->free + x->place[k]] =
                x->full[i * n + k] - x->full[a * n + k] - x->full[i * n + b] + x->full[a * n + b];
        }
}

/* The variance of an entry under the covariance of the free parameters. */
static double variance_of(const problem *x, const size_t *rest, const double *C, size_t entry)
{
    double sum = 0;
    if (x->place[entry] != CR_NONE) return C[x->place[entry] * x->free + x->place[entry]];
    for (size_t i = 0; i < x->size; i++)
        for (size_t k = 0; k < x->size; k++)
            if (rest[i] == entry && rest[k] == entry && x->place[i] != CR_NONE &&
                x->place[k] != CR_NONE)
                sum += C[x->place[i] * x->free + x->place[k]];
    return sum;
}

static double share_of(const problem *x, const size_t *rest, const double *C, size_t i,
                       double cases)
{
    double of = variance_of(x, rest, C, i), complete = x->p[i] * (1 - x->p[i]) / cases;
    return of > complete && cases > 0 ? complete / of : 1;
}

cr_status cri_bn_find_shares(cr_ctx *cx, cri_bn_counter *c, const double *value,
                             const double *count, double *share, bool *out_known)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     n = c->m->size, *rest = cr_scratch_index(&s, n);
    problem    x = { .c = c, .p = value, .count = count, .size = n };
    *out_known = is_small_enough(c);
    if (!*out_known) goto done;
    for (size_t i = 0; i < n; i++) share[i] = NAN;
    c->value = value;
    x.place = cr_scratch_index(&s, n);
    x.full = cr_scratch_matrix(&s, n, n);
    x.mean = cr_scratch_f64(&s, n);
    x.touched = cr_scratch_index(&s, MOST_TOUCHED);
    x.term = cr_scratch_f64(&s, c->most_states + 1);
    CR_TRY(s.status);
    fill_information(&x);
    choose_free(&x, rest);
    double *A = cr_scratch_matrix(&s, x.free, x.free), *C = cr_scratch_matrix(&s, x.free, x.free);
    CR_TRY(s.status);
    restrict_rows(&x, rest, A);
    cr_mat L = { A, x.free, x.free, x.free };
    st = cr_chol(cx, L);
    if (st == CR_ENUMERIC) {
        st = CR_OK;
        cr_log(cx, CR_LOG_INFO, "the rows do not tell all probabilities: no standard deviations");
        goto done;
    }
    CR_TRY(st);
    CR_TRY(cr_chol_inverse(cx, (cr_cmat){ A, x.free, x.free, x.free },
                           (cr_mat){ C, x.free, x.free, x.free }));
    for (size_t v = 0; v < c->data->p; v++) {
        cri_bn_table t = cri_bn_table_of(c->m, v);
        for (size_t i = t.at; i < t.at + t.rows * t.states; i++) {
            size_t row = i - (i - t.at) % t.states;
            double cases = 0;
            for (size_t k = row; k < row + t.states; k++) cases += count[k] + c->m->prior[k];
            share[i] = share_of(&x, rest, C, i, cases);
        }
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* dbn_errors.c -- how certain learned tables are, where something was missing.
 * Each row of a table is p = softmax(eta), the logarithms of its odds against its largest entry.  The score is known from
 * expected counts under any tables,
 *   d log posterior / d eta_s = n_s + a_s - (n + a) p_s,     n = sum n_s, a = sum a_s: the Dirichlet prior's parameters,
 * so that differences of it give the second derivatives of what is seen: they are smaller than those of counts that had been
 * seen by what is missing.  2 passes for each free parameter.  Entries that are next to 0 are left out; they are at the
 * edge of what is possible, where nothing is normal.
 * Oakes (1999), Direct calculation of the information matrix via the EM algorithm, JRSS B 61. */
#include "dbn.h"
#include "base/context_internal.h"
#include "base/scratch.h"
#include "math/dense/chol.h"

#include <math.h>
#include <string.h>

enum { MOST_PARAMETERS = 300 };
static const double MOST_WORK = 1e9; /* operations */
static const double LEAST = 1e-8;    /* probability */
static const double STEP = 1e-3;     /* of eta: its square is the relative error */

typedef struct curve {
    cr_ctx          *cx;
    cri_dbn         *m;
    cri_dbn_counter *counter;
    const double    *prior; /* [size] */
    size_t           D;
    size_t          *entry, *row,
        *states;           /* [D] where an entry is, where its row begins and how many it has */
    double *value, *count; /* [size] */
} curve;

/* Entries that vary: all of a row that are not next to 0, but for the largest. */
static void choose_entries(curve *c)
{
    const cri_dbn *m = c->m;
    for (size_t k = 0; k < m->tables; k++)
        for (size_t i = 0; i < m->table[k].size; i += m->table[k].states) {
            size_t at = m->table[k].at + i, most = at, n = m->table[k].states;
            double cases = 0;
            for (size_t s = at; s < at + n; s++) {
                cases += m->count[s] + c->prior[s];
                if (m->value[s] > m->value[most]) most = s;
            }
            for (size_t s = at; s < at + n && cases > 0; s++) {
                if (s == most || m->value[s] < LEAST) continue;
                c->entry[c->D] = s, c->row[c->D] = at, c->states[c->D++] = n;
            }
        }
}

/* The score where eta of coordinate d has become larger by h. */
static cr_status score_at(curve *c, size_t d, double h, double *out)
{
    size_t impossible, at = c->row[d];
    double log_p, more = expm1(h), sum = 1 + c->m->value[c->entry[d]] * more;
    memcpy(c->value, c->m->value, c->m->size * sizeof *c->value);
    c->value[c->entry[d]] *= 1 + more;
    for (size_t s = at; s < at + c->states[d]; s++) c->value[s] /= sum;
    cri_dbn_set(c->m, c->value);
    cr_status st = cri_dbn_count(c->counter, c->count, &log_p, &impossible);
    for (size_t i = 0; i < c->D; i++) {
        double cases = 0;
        for (size_t s = c->row[i]; s < c->row[i] + c->states[i]; s++)
            cases += c->count[s] + c->prior[s];
        out[i] = c->count[c->entry[i]] + c->prior[c->entry[i]] - cases * c->value[c->entry[i]];
    }
    return st;
}

/* H [D x D] = minus the second derivatives; workspace [2 D]. */
static cr_status bend(curve *c, double *H, double *workspace)
{
    cr_status st = CR_OK;
    size_t    D = c->D;
    double   *up = workspace, *down = up + D;
    for (size_t d = 0; d < D; d++) {
        CR_TRY(cr_check_interrupt(c->cx));
        CR_TRY(score_at(c, d, STEP, up));
        CR_TRY(score_at(c, d, -STEP, down));
        for (size_t i = 0; i < D; i++) H[d * D + i] = (down[i] - up[i]) / (2 * STEP);
    }
    for (size_t d = 0; d < D; d++)
        for (size_t i = 0; i < d; i++)
            H[d * D + i] = H[i * D + d] = (H[d * D + i] + H[i * D + d]) / 2;
done:
    return st;
}

/* sd of p_s, with C the covariance of eta:  dp_s / d eta_i = p_s ([s = i] - p_i)  within a row. */
static void spread(const curve *c, const double *C, double *sd)
{
    const double *p = c->m->value;
    size_t        D = c->D;
    for (size_t i = 0; i < c->m->size; i++) sd[i] = NAN;
    for (size_t from = 0, to; from < D; from = to) {
        for (to = from; to < D && c->row[to] == c->row[from]; to++) continue;
        for (size_t s = c->row[from]; s < c->row[from] + c->states[from]; s++) {
            double sum = 0;
            for (size_t i = from; i < to; i++)
                for (size_t j = from; j < to; j++)
                    sum += ((s == c->entry[i]) - p[c->entry[i]]) * C[i * D + j] *
                           ((s == c->entry[j]) - p[c->entry[j]]);
            if (p[s] >= LEAST) sd[s] = p[s] * sqrt(sum);
        }
    }
}

cr_status cri_dbn_find_errors(cr_ctx *cx, cri_dbn_counter *counter, const double *prior,
                              double cost, cri_dbn *m)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    curve      c = { .cx = cx, .m = m, .counter = counter, .prior = prior };
    double    *H, *work;
    c.entry = cr_scratch_index(&s, m->size);
    c.row = cr_scratch_index(&s, m->size);
    c.states = cr_scratch_index(&s, m->size);
    c.value = cr_scratch_f64(&s, m->size);
    c.count = cr_scratch_f64(&s, m->size);
    CR_TRY(s.status);
    choose_entries(&c);
    if (c.D > MOST_PARAMETERS || 2 * (double)c.D * cost > MOST_WORK) goto done;
    H = cr_scratch_matrix(&s, c.D, c.D);
    work = cr_scratch_f64(&s, 2 * c.D);
    m->sd = cr_alloc(cx, m->size, sizeof *m->sd);
    CR_TRY(s.status);
    if (!m->sd) CR_TRY(CR_ENOMEM);
    CR_TRY(bend(&c, H, work));
    cr_mat C = { H, c.D, c.D, c.D };
    st = cr_chol(cx, C);
    if (st == CR_OK) st = cr_chol_inverse(cx, (cr_cmat){ H, c.D, c.D, c.D }, C);
    if (st == CR_OK) {
        spread(&c, H, m->sd);
        m->errors = CRI_DBN_CURVATURE;
    } else if (st == CR_ENUMERIC) { /* no mode, but a ridge or a saddle */
        cr_free(cx, m->sd, m->size, sizeof *m->sd);
        m->sd = NULL;
        st = CR_OK;
    }
done:
    cri_dbn_set(m, m->value);
    cr_scratch_end(&s);
    return st;
}

/* fa_number.c -- how many factors: as asked for, by the share of the variance that they explain, or by Schwarz's
 * criterion of each number up to the most that the covariances can tell (Ledermann 1937, Psychometrika 2).  The
 * criterion falls and then rises: the search ends where it has not fallen for PATIENCE numbers.  Few starts do for that;
 * the best number and those beside it get all of them. */
#include "components.h"
#include "fa.h"
#include "base/scratch.h"
#include "math/constants.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { PATIENCE = 3 };

double cri_fa_log_likelihood(const cri_fa_rows *rows, double f)
{
    return -0.5 * rows->n * ((double)rows->p * CRI_LOG_2PI + f) - rows->n * rows->log_units;
}

double cri_fa_parameters(size_t p, size_t q)
{
    double P = (double)p, Q = (double)q;
    return P + fmin(P + P * Q - Q * (Q - 1) / 2, P * (P + 1) / 2);
}

double cri_fa_freedom(size_t p, size_t q)
{
    double left = (double)p - (double)q;
    return 0.5 * (left * left - (double)p - (double)q);
}

size_t cri_fa_most(size_t p)
{
    size_t q = p == 2; /* which have nothing left to tell it by */
    while (q + 1 < p && cri_fa_freedom(p, q + 1) >= 0) q++;
    return q;
}

static double bic_of(const cri_fa_rows *rows, size_t q, double log_likelihood)
{
    return -2 * log_likelihood + cri_fa_parameters(rows->p, q) * log(rows->n);
}

/* Of the variance of all columns, what the factors explain. */
static double share_of(const double *psi, size_t p)
{
    double sum = 0;
    for (size_t i = 0; i < p; i++) sum += (1 - psi[i]) / (double)p;
    return sum;
}

static cr_status fail_count(cr_ctx *cx, size_t asked, size_t p, size_t most)
{
    cr_fail(cx, CR_EARG,
            "fa: %zu factors are too many for %zu columns: their covariances cannot tell more than "
            "%zu",
            asked, p, most);
    return cr_fail_hint(cx, "--components %zu or fewer, or auto; ppca takes up to %zu", most,
                        p - 1);
}

/* Where no number of factors is better than none. */
static void warn_of_none(cr_ctx *cx, const cri_fa_rows *rows, double lowest)
{
    double none = bic_of(rows, 0, cri_fa_log_likelihood(rows, (double)rows->p));
    if (none <= lowest)
        cr_log(
            cx, CR_LOG_WARNING,
            "fa: the lowest BIC is that of no factors at all: the columns have little in common");
}

/* What the search works with: the numbers that had all their starts, and workspace. */
typedef struct numbers {
    cr_ctx               *cx;
    const cri_fa_rows    *rows;
    const cri_fa_options *o;
    cri_fa_choice        *out;
    double               *bic;     /* [most]           */
    bool                 *settled; /* [most]           */
    double               *psi, *W; /* [p], [most x p]  */
} numbers;

/* The maximum with q factors, which becomes the best where its BIC is the lowest or it must; *out_cut: time is over. */
static cr_status try_number(numbers *s, size_t q, size_t starts, bool must, bool *out_cut)
{
    cr_status      st = CR_OK;
    cri_fa_options o = *s->o;
    cri_fa_choice *best = s->out;
    cri_fa_maximum end = { .psi = s->psi, .W = s->W };
    size_t         p = s->rows->p;

    if (o.restarts > starts) o.restarts = starts;
    CR_TRY(cri_fa_maximise(s->cx, s->rows->R, p, q, &o, NULL, &end));
    best->log_likelihood[q - 1] = cri_fa_log_likelihood(s->rows, end.f);
    s->bic[q - 1] = bic_of(s->rows, q, best->log_likelihood[q - 1]);
    *out_cut = end.cut;
    if (!must && best->q > 0 && best->q != q && !(s->bic[q - 1] < s->bic[best->q - 1])) goto done;
    end.psi = best->best.psi, end.W = best->best.W;
    memcpy(end.psi, s->psi, p * sizeof *s->psi);
    memcpy(end.W, s->W, q * p * sizeof *s->W);
    best->q = q, best->best = end;
done:
    return st;
}

/* The fewest that explain such a share of the variance. */
static cr_status search_share(numbers *s, double share, size_t most)
{
    cr_status      st = CR_OK;
    cri_fa_choice *out = s->out;
    bool           cut = false;
    double         explained = 0;
    for (size_t q = 1; q <= most && !cut && explained < share; q++) {
        CR_TRY(try_number(s, q, SIZE_MAX, true, &cut));
        out->tried = q;
        explained = share_of(out->best.psi, s->rows->p);
    }
    if (explained < share)
        cr_log(s->cx, CR_LOG_WARNING,
               "fa: %zu factors%s explain %.3g of the variance, less than %.3g", out->q,
               cut ? "" : ", as many as the columns can tell,", explained, share);
done:
    return st;
}

/* The one of q - 1, q, q + 1 that has not had all its starts; 0: there is none. */
static size_t find_unsettled(const numbers *s, size_t q)
{
    const size_t near[] = { q, q - 1, q + 1 };
    for (size_t i = 0; i < 3; i++)
        if (near[i] > 0 && near[i] <= s->out->tried && !s->settled[near[i] - 1]) return near[i];
    return 0;
}

/* The number of the lowest BIC: first by few starts, then the best and those beside it by all. */
static cr_status search_bic(numbers *s, size_t most)
{
    cr_status      st = CR_OK;
    cri_fa_choice *out = s->out;
    bool           cut = false;
    for (size_t q = 1; q <= most && q <= out->q + PATIENCE && !cut; q++) {
        CR_TRY(try_number(s, q, CRI_FA_FIRST, false, &cut));
        s->settled[q - 1] = false;
        out->tried = q;
    }
    for (size_t q = 0; !cut && (q = find_unsettled(s, out->q)) > 0;) {
        s->settled[q - 1] = true;
        CR_TRY(try_number(s, q, SIZE_MAX, false, &cut));
    }
    warn_of_none(s->cx, s->rows, s->bic[out->q - 1]);
done:
    return st;
}

static cr_status search_number(cr_ctx *cx, const cri_fa_rows *rows, const cri_fa_options *o,
                               double share, size_t most, cri_fa_choice *out)
{
    cr_status  st = CR_OK;
    cr_scratch memory = cr_scratch_begin(cx);
    numbers    s = { .cx = cx, .rows = rows, .o = o, .out = out };

    s.bic = cr_scratch_f64(&memory, most), s.settled = cr_scratch_bytes(&memory, most, 1);
    s.psi = cr_scratch_f64(&memory, rows->p), s.W = cr_scratch_matrix(&memory, most, rows->p);
    CR_TRY(memory.status);
    CR_TRY(share > 0 ? search_share(&s, share, most) : search_bic(&s, most));
done:
    cr_scratch_end(&memory);
    return st;
}

cr_status cri_fa_choose(cr_ctx *cx, const cri_fa_rows *rows, const cri_fa_options *o,
                        cri_fa_choice *out)
{
    cr_status      st = CR_OK;
    size_t         most = cri_fa_most(rows->p);
    cri_components asked;
    out->q = out->tried = 0;
    cri_components_read(o->components, &asked);
    if (asked.automatic || asked.bic || asked.share > 0)
        return search_number(cx, rows, o, asked.share, most, out);
    out->q = asked.all ? most : asked.count;
    if (out->q > most) return fail_count(cx, asked.count, rows->p, most);
    CR_TRY(cri_fa_maximise(cx, rows->R, rows->p, out->q, o, NULL, &out->best));
done:
    return st;
}

/* fa_number.c -- how many factors: as asked for, by the share of the variance that they explain, or by Schwarz's
 * criterion of each number up to the most that the covariances can tell (Ledermann 1937, Psychometrika 2).  The
 * criterion falls and then rises: the search ends where it has not fallen for PATIENCE numbers. */
#include "components.h"
#include "fa.h"
#include "base/scratch.h"
#include "math/constants.h"

#include <math.h>
#include <string.h>

enum { PATIENCE = 5 };

double cri_fa_log_likelihood(const cri_fa_rows *rows, double f)
{
    return -0.5 * rows->n * ((double)rows->p * CRI_LOG_2PI + f) - rows->n * rows->log_units;
}

double cri_fa_parameters(size_t p, size_t q)
{
    double P = (double)p, Q = (double)q;
    return 2 * P + P * Q - Q * (Q - 1) / 2;
}

double cri_fa_freedom(size_t p, size_t q)
{
    double left = (double)p - (double)q;
    return 0.5 * (left * left - (double)p - (double)q);
}

size_t cri_fa_most(size_t p)
{
    size_t q = 0;
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

/* Tries numbers from 1 on, and keeps the best. */
static cr_status search_number(cr_ctx *cx, const cri_fa_rows *rows, const cri_fa_options *o,
                               const cri_components *asked, size_t most, cri_fa_choice *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(cx);
    size_t     p = rows->p;
    double     lowest = INFINITY, *W = cr_scratch_matrix(&s, most, p);
    double    *psi = cr_scratch_f64(&s, p);
    bool       enough = false;

    CR_TRY(s.status);
    for (size_t q = 1; q <= most && !enough && (asked->share > 0 || q <= out->q + PATIENCE); q++) {
        cri_fa_maximum end = { .psi = psi, .W = W };
        CR_TRY(cri_fa_maximise(cx, rows->R, p, q, o, NULL, &end));
        double l = out->log_likelihood[q - 1] = cri_fa_log_likelihood(rows, end.f);
        double bic = bic_of(rows, q, l);
        out->tried = q;
        enough = end.cut || (asked->share > 0 && share_of(psi, p) >= asked->share);
        if (q > 1 && asked->share <= 0 && !(bic < lowest)) continue;
        end.psi = out->best.psi, end.W = out->best.W;
        memcpy(end.psi, psi, p * sizeof *psi);
        memcpy(end.W, W, q * p * sizeof *W);
        out->q = q, out->best = end;
        lowest = fmin(lowest, bic);
    }
    if (asked->share > 0 && !enough)
        cr_log(cx, CR_LOG_WARNING,
               "fa: %zu factors, as many as %zu columns can tell, explain %.3g of the variance, "
               "less than %.3g",
               most, p, share_of(psi, p), asked->share);
    if (!(asked->share > 0)) warn_of_none(cx, rows, lowest);
done:
    cr_scratch_end(&s);
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
        return search_number(cx, rows, o, &asked, most, out);
    out->q = asked.all ? most : asked.count;
    if (out->q > most) return fail_count(cx, asked.count, rows->p, most);
    CR_TRY(cri_fa_maximise(cx, rows->R, rows->p, out->q, o, NULL, &out->best));
done:
    return st;
}

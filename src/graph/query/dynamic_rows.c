/* dynamic_rows.c -- tables whose rows are slices: the posterior of every row, given the rows of its sequence up to it
 * or all of them.  The rows are taken at once, sequence by sequence, and then handed out in the order of the table. */
#include "cases_table.h"
#include "data/design/sequences.h"
#include "graph/exact/interface.h"
#include "graph/network/dynamic_network.h"
#include "graph/network/network_internal.h"

#include <math.h>
#include <string.h>

typedef struct rows {
    cr_scratch     s;
    cri_interface *h;
    size_t         width;    /* numbers of all variables */
    size_t         next;     /* the row that is asked for next, */
    double        *value;    /* [rows x width] posteriors, */
    double        *log_of;   /* [rows] log P(row | the rows before it), */
    bool          *possible; /* [rows] */
} rows;

cr_status cri_dynamic_open(cri_cases *c, const cr_findings *known)
{
    cr_status st = CR_OK;
    rows     *r = NULL;
    c->method = "interface";
    if (c->o.method > CR_QUERY_EXACT) {
        cr_fail(c->cx, CR_EARG, "rows of a network with slices are always answered exactly");
        CR_TRY(cr_fail_hint(c->cx, "leave out --method"));
    }
    if (known->n > 0) {
        cr_fail(c->cx, CR_EARG, "evidence on a network with slices is in the rows, not in a file");
        CR_TRY(cr_fail_hint(c->cx, "add a column for it, or ask credence query"));
    }
    r = c->own = cr_alloc(c->cx, 1, sizeof *r);
    if (!r) CR_TRY(CR_ENOMEM);
    r->s = cr_scratch_begin(c->cx);
    CR_TRY(cri_interface_new(c->cx, c->any.net, &r->h));
    r->width = cri_interface_width(r->h);
done:
    return st;
}

void cri_dynamic_close(cri_cases *c)
{
    rows *r = c->own;
    cri_interface_free(c->cx, r->h);
    cr_scratch_end(&r->s);
    cr_free(c->cx, r, 1, sizeof *r);
}

/* --- a sequence ------------------------------------------------------------------------------ */

/* Slice t of a sequence is row[t] of the table. */
typedef struct visit {
    rows         *r;
    const size_t *row;
} visit;

static bool keep(void *arg, size_t t, const double *p)
{
    visit *k = arg;
    memcpy(k->r->value + k->row[t] * k->r->width, p, k->r->width * sizeof *p);
    k->r->possible[k->row[t]] = true;
    return true;
}

/* What the rows of a sequence say, as codes [length x n]. */
static void read_codes(const cri_followed *f, const size_t *row, size_t length, size_t n,
                       uint32_t *code)
{
    for (size_t i = 0; i < length * n; i++) code[i] = CRI_CODE_OPEN;
    for (size_t t = 0; t < length; t++)
        for (size_t k = 0; k < f->n; k++) {
            double x = cri_case_cell(&f->columns[k], row[t]);
            if (!isnan(x)) code[t * n + f->columns[k].variable] = (uint32_t)x;
        }
}

static cr_status follow_one(cri_cases *c, const cri_followed *f, const size_t *row, size_t length)
{
    cr_status          st = CR_OK;
    rows              *r = c->own;
    cr_scratch         s = cr_scratch_begin(c->cx);
    size_t             n = ((const cri_dynamic *)c->any.net)->n, possible = 0;
    uint32_t          *code = cr_scratch_bytes(&s, length * n, sizeof *code);
    double            *log_of = cr_scratch_f64(&s, length), all;
    visit              k = { r, row };
    cri_slice_evidence e = { .slices = length, .code = code };
    CR_TRY(s.status);
    read_codes(f, row, length, n, code);
    CR_TRY(f->filtered ? cri_interface_filter(c->cx, r->h, &e, keep, &k, log_of, &possible)
                       : cri_interface_smooth(c->cx, r->h, &e, 0, length - 1, keep, &k, log_of,
                                              &all, &possible));
    for (size_t t = 0; t < length; t++) r->log_of[row[t]] = log_of[t];
    for (size_t t = 0; t < length; t++) c->impossible += !r->possible[row[t]];
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cri_dynamic_follow(cri_cases *c, const cri_followed *f)
{
    cr_status            st = CR_OK;
    rows                *r = c->own;
    const cri_sequences *q = f->sequences;
    r->value = cr_scratch_matrix(&r->s, q->rows, r->width);
    r->log_of = cr_scratch_f64(&r->s, q->rows);
    r->possible = cr_scratch_bytes(&r->s, q->rows, sizeof *r->possible);
    CR_TRY(r->s.status);
    for (size_t i = 0; i < q->n; i++)
        CR_TRY(follow_one(c, f, q->row + q->start[i], q->start[i + 1] - q->start[i]));
    if (cri_interface_lost(r->h))
        cr_log(c->cx, CR_LOG_WARNING,
               "states that once had less than 1e-300 of the probability of others were left out: "
               "posteriors may be far off");
done:
    return st;
}

/* --- row by row ------------------------------------------------------------------------------ */

bool cri_dynamic_is_fixed(const cri_cases *c, size_t v)
{
    (void)c, (void)v;
    return false;
}

/* All rows have been taken already. */
cr_status cri_dynamic_observe(cri_cases *c, size_t v, double x)
{
    (void)c, (void)v, (void)x;
    return CR_OK;
}

cr_status cri_dynamic_ask(cri_cases *c, double *out_log, bool *out_possible)
{
    rows *r = c->own;
    *out_log = r->log_of[r->next];
    *out_possible = r->possible[r->next];
    r->next++;
    return CR_OK;
}

cr_status cri_dynamic_posterior(cri_cases *c, size_t v, double *out)
{
    const rows        *r = c->own;
    const cri_dynamic *net = c->any.net;
    memcpy(out, r->value + (r->next - 1) * r->width + cri_states_before(net->first, v),
           cr_network_states(net->first, v) * sizeof *out);
    return CR_OK;
}

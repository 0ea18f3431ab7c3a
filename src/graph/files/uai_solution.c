/* uai_solution.c -- solutions in and out. */
#include "uai_solution.h"
#include "network_text.h"
#include "uai_internal.h"
#include "base/file.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const char *const NAMES[] = { "", "MAR", "PR", "MAP", "MPE" };
enum { KINDS = sizeof NAMES / sizeof *NAMES };

const char *cr_solution_name(cr_solution_kind kind) { return NAMES[kind]; }

cr_solution_kind cr_solution_kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int k = 1; dot && k < KINDS; k++)
        if (strcasecmp(dot + 1, NAMES[k]) == 0) return (cr_solution_kind)k;
    return CR_SOLUTION_NONE;
}

void cr_solution_free(cr_ctx *cx, cr_solution *s)
{
    cr_free(cx, s->marginal, s->states, sizeof *s->marginal);
    cr_free(cx, s->state, s->variables, sizeof *s->state);
    *s = (cr_solution){ 0 };
}

cr_status cr_solution_new(cr_ctx *cx, const cr_network *net, cr_solution_kind kind,
                          cr_solution *out)
{
    cr_solution s = { .kind = kind, .variables = cr_network_size(net) };
    for (size_t v = 0; v < s.variables; v++) s.states += cr_network_states(net, v);
    if (kind == CR_SOLUTION_MAR) {
        s.marginal = cr_alloc(cx, s.states, sizeof *s.marginal);
        if (!s.marginal) return CR_ENOMEM;
    } else if (kind != CR_SOLUTION_PR) {
        s.state = cr_alloc(cx, s.variables, sizeof *s.state);
        if (!s.state) return CR_ENOMEM;
    }
    *out = s;
    return CR_OK;
}

/* --- reading --------------------------------------------------------------------------------- */

static cr_status read_kind(cri_reader *r, cr_solution_kind *out)
{
    size_t n = 0;
    cri_uai_skip(r);
    while (r->at + n < r->end && (unsigned char)r->at[n] > ' ') n++;
    for (int k = 1; k < KINDS; k++)
        if (strlen(NAMES[k]) == n && memcmp(r->at, NAMES[k], n) == 0) {
            r->at += n;
            *out = (cr_solution_kind)k;
            return CR_OK;
        }
    return cri_reader_fail_at(r, r->at, n, "a solution begins with MAR, PR, MAP or MPE");
}

/* The number of variables; a 1 before it where that cannot be meant. */
static void read_size(cri_reader *r, const cr_network *net)
{
    size_t n = cr_network_size(net);
    cri_uai_skip(r);
    const char *from = r->at;
    size_t      got = cri_uai_count(r, "the number of variables", 1e9);
    if (got == 1 && n != 1) {
        cri_uai_skip(r);
        from = r->at;
        got = cri_uai_count(r, "the number of variables", 1e9);
    }
    if (r->status == CR_OK && got != n)
        cri_reader_fail_at(r, from, (size_t)(r->at - from),
                           "a solution for %zu variables, but the network has %zu", got, n);
}

static void read_marginals(cri_reader *r, const cr_network *net, double *p)
{
    for (size_t v = 0; v < cr_network_size(net) && r->status == CR_OK; v++) {
        cri_uai_skip(r);
        const char *from = r->at;
        size_t      n = cri_uai_count(r, "the number of states", 1e9);
        if (r->status == CR_OK && n != cr_network_states(net, v))
            cri_reader_fail_at(r, from, (size_t)(r->at - from),
                               "%zu states, but variable %zu of the network has %zu", n, v,
                               cr_network_states(net, v));
        for (size_t s = 0; s < n && r->status == CR_OK; s++) {
            cri_uai_skip(r);
            from = r->at;
            *p = cri_uai_number(r, "a probability");
            if (r->status == CR_OK && !(*p >= 0 && *p <= 1 + 1e-6))
                cri_reader_fail_at(r, from, (size_t)(r->at - from), "a probability is 0 to 1");
            p++;
        }
    }
}

static void read_states(cri_reader *r, const cr_network *net, size_t *state)
{
    for (size_t v = 0; v < cr_network_size(net) && r->status == CR_OK; v++)
        state[v] = cri_uai_count(r, "a state", (double)cr_network_states(net, v));
}

cr_status cr_solution_read(cr_ctx *cx, const char *path, const cr_network *net, cr_solution *out)
{
    cr_status        st = CR_OK;
    cr_solution      s = { 0 };
    cr_solution_kind kind = CR_SOLUTION_NONE;
    char            *bytes;
    size_t           size;
    st = cri_file_load(cx, path, 0, &bytes, &size);
    if (st != CR_OK) return st;
    cri_reader r = cri_reader_open(cx, path, bytes, size);
    CR_TRY(r.status);
    CR_TRY(read_kind(&r, &kind));
    CR_TRY(cr_solution_new(cx, net, kind, &s));
    if (kind == CR_SOLUTION_PR) {
        s.log_z = log(10) * cri_uai_number(&r, "log10 of P(e)");
        cri_uai_skip(&r);
        if (r.status == CR_OK && r.at < r.end) /* what was read was the number of samples */
            s.log_z = log(10) * cri_uai_number(&r, "log10 of P(e)");
    } else {
        read_size(&r, net);
    }
    if (s.marginal) read_marginals(&r, net, s.marginal);
    if (s.state) read_states(&r, net, s.state);
    CR_TRY(r.status);
    cri_uai_skip(&r);
    if (r.at < r.end) CR_TRY(cri_reader_fail_at(&r, r.at, 1, "the solution should end here"));
    *out = s;
    s = (cr_solution){ 0 };
done:
    cr_solution_free(cx, &s);
    cr_free(cx, bytes, size, 1);
    return st;
}

/* --- writing --------------------------------------------------------------------------------- */

cr_status cr_solution_write(cr_ctx *cx, const cr_network *net, const cr_solution *s,
                            const char *path)
{
    cri_writer    w = { 0 };
    const double *p = s->marginal;
    cr_status     st = cri_packed_create(cx, path, &w.file);
    if (st != CR_OK) return st;
    cri_put_format(&w, "%s\n", NAMES[s->kind]);
    if (s->kind == CR_SOLUTION_PR)
        cri_put_number(&w, s->log_z / log(10));
    else
        cri_put_format(&w, "%zu", s->variables);
    for (size_t v = 0; p && v < s->variables; v++) {
        cri_put_format(&w, " %zu", cr_network_states(net, v));
        for (size_t k = 0; k < cr_network_states(net, v); k++) {
            cri_put(&w, " ");
            cri_put_number(&w, *p++);
        }
    }
    for (size_t v = 0; s->state && v < s->variables; v++) cri_put_format(&w, " %zu", s->state[v]);
    cri_put(&w, "\n");
    return cri_writer_close(&w);
}

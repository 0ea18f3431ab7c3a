/* query_solution.c -- MAR, PR, MAP and MPE files of answers. */
#include "query_solution.h"
#include "graph/network/network_internal.h"

#include <math.h>
#include <string.h>

cr_solution_kind query_solution_asked(const cli *c)
{
    if (c->global.json || c->global.format != FORMAT_AUTO || !c->global.output)
        return CR_SOLUTION_NONE;
    return cr_solution_kind_of(c->global.output);
}

static cr_status refuse(cli *c, cr_solution_kind kind)
{
    cr_fail(c->cx, CR_EARG, "a %s file cannot hold the answer to this question",
            cr_solution_name(kind));
    return cr_fail_hint(c->cx, kind == CR_SOLUTION_MAR ? "ask 'P(*)' or 'P(* | e)'"
                               : kind == CR_SOLUTION_PR
                                   ? "ask 'P(*)' or 'P(* | e)', which have P(e)"
                                   : "ask 'argmax(*)' or 'argmax(* | e)'");
}

/* Variables that are known are not in an answer, but in a solution. */
static void put_known(const query_job *j, const cr_findings *list, cr_solution *s)
{
    for (size_t i = 0; i < list->n; i++) {
        const cr_finding *f = &list->item[i];
        for (size_t k = 0; k < f->states; k++) {
            if (f->weight[k] == 0) continue;
            if (s->marginal) s->marginal[cri_states_before(j->words.net, f->variable) + k] = 1;
            if (s->state) s->state[f->variable] = k;
        }
    }
}

/* The answer as a solution. */
static cr_status make(const query_job *j, const cr_question *q, const cr_findings *more,
                      const cr_query_answer *a, cr_solution_kind kind, cr_solution *out)
{
    cr_status     st = CR_OK;
    const double *p = a->value;
    bool best = a->kind == CR_QUESTION_BEST && q->n_x == 0, all = a->kind == CR_QUESTION_MARGINALS;
    bool fits = kind == CR_SOLUTION_MAR  ? all
                : kind == CR_SOLUTION_PR ? !isnan(a->log_evidence)
                                         : best;
    if (!fits) return refuse(j->c, kind);
    CR_TRY(cr_solution_new(j->c->cx, j->words.net, kind, out));
    out->log_z = a->log_evidence;
    put_known(j, &q->known, out);
    put_known(j, more, out);
    for (size_t i = 0; i < a->n && kind != CR_SOLUTION_PR; i++) {
        size_t v = a->variable[i];
        if (out->state) out->state[v] = a->states[i];
        for (size_t s = 0; out->marginal && s < cr_network_states(j->words.net, v); s++)
            out->marginal[cri_states_before(j->words.net, v) + s] = *p++;
    }
done:
    return st;
}

cr_status query_solution_write(const query_job *j, const cr_question *q, const cr_findings *more,
                               const cr_query_answer *a, cr_solution_kind kind, const char *path)
{
    cr_solution s = { 0 };
    cr_status   st = make(j, q, more, a, kind, &s);
    if (st == CR_OK) st = cr_solution_write(j->c->cx, j->words.net, &s, path);
    cr_solution_free(j->c->cx, &s);
    return st;
}

/* --- comparison ------------------------------------------------------------------------------ */

/* The probability that differs most, and where it is. */
static void compare_marginals(const query_job *j, const cr_solution *here, const cr_solution *there,
                              cri_sheet *out)
{
    size_t worst = 0, at = 0, v = 0, s;
    for (size_t k = 1; k < here->states; k++)
        if (fabs(here->marginal[k] - there->marginal[k]) >
            fabs(here->marginal[worst] - there->marginal[worst]))
            worst = k;
    while (at + cr_network_states(j->words.net, v) <= worst)
        at += cr_network_states(j->words.net, v++);
    s = worst - at;
    cri_put_real(out, "difference", fabs(here->marginal[worst] - there->marginal[worst]));
    cri_put_text(out, "variable", cr_variable_name(j->words.variables, v));
    cri_put_text(out, "state", cr_state_name(j->words.variables, v, s));
    cri_put_real(out, "here", here->marginal[worst]);
    cri_put_real(out, "there", there->marginal[worst]);
}

/* Two assignments may both be the best: their logs are compared, in units of log10 as P(e) is. */
static void compare_logs(double here, double there, cri_sheet *out)
{
    double difference = here == there ? 0 : fabs(here - there) / log(10);
    cri_put_real(out, "difference", difference);
    cri_put_real(out, "here", here / log(10));
    cri_put_real(out, "there", there / log(10));
}

cr_status query_solution_compare(const query_job *j, const cr_question *q, const cr_findings *more,
                                 const cr_query_answer *a, const char *path, cri_sheet *out)
{
    cr_status   st = CR_OK;
    cr_solution here = { 0 }, there = { 0 };
    CR_TRY(cr_solution_read(j->c->cx, path, j->words.net, &there));
    CR_TRY(make(j, q, more, a, there.kind, &here));
    cri_put_text(out, "file", path);
    cri_put_text(out, "kind", cr_solution_name(there.kind));
    if (here.marginal && here.states > 0)
        compare_marginals(j, &here, &there, out);
    else if (here.state)
        compare_logs(cr_network_log_value(j->words.net, here.state),
                     cr_network_log_value(j->words.net, there.state), out);
    else
        compare_logs(here.log_z, there.log_z, out);
done:
    cr_solution_free(j->c->cx, &here);
    cr_solution_free(j->c->cx, &there);
    return st;
}

/* What is not finite is null in a sheet. */
static double number_of(const cri_sheet *comparison, const char *name, double if_null)
{
    double x = cri_sheet_real(cri_sheet_get(comparison, name));
    return isnan(x) ? if_null : x;
}

double query_solution_difference(const cri_sheet *comparison)
{
    return number_of(comparison, "difference", INFINITY);
}

void query_solution_text(cli *c, const cri_sheet *comparison)
{
    const char *kind = cri_sheet_text(cri_sheet_get(comparison, "kind"));
    double      x = query_solution_difference(comparison);
    double      here = number_of(comparison, "here", -INFINITY);
    double      there = number_of(comparison, "there", -INFINITY);
    const char *file = cri_sheet_text(cri_sheet_get(comparison, "file"));
    const char *name = cri_sheet_text(cri_sheet_get(comparison, "variable"));
    if (name)
        out_text(c, "  largest difference from %s: %.3g, at P(%s=%s), %.9g here and %.9g there\n",
                 file, x, name, cri_sheet_text(cri_sheet_get(comparison, "state")), here, there);
    else
        out_text(c, "  difference from %s: %.3g, log10 of %s %.9g here and %.9g there\n", file, x,
                 strcmp(kind, "PR") == 0 ? "P(e)" : "the product of all tables", here, there);
}

/* approximate.c -- errors of approximate answers, as a sheet and as a line. */
#include "approximate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

const cr_field approximate_fields[] = {
    CR_FLAG("converged", CR_FIELD_SOMETIMES,
            "messages: whether they stopped changing; chains: mixed"),
    CR_COUNT("iterations", CR_FIELD_SOMETIMES, "sweeps over all messages"),
    CR_NUMBER("residual", CR_FIELD_SOMETIMES, "largest change of a message at the end"),
    CR_NUMBER("damping", CR_FIELD_SOMETIMES, "share of the old message that stayed, at the end"),
    CR_MEASURE("lower", "nats", CR_FIELD_SOMETIMES, "lower bound of log P(e)"),
    CR_MEASURE("upper", "nats", CR_FIELD_SOMETIMES,
               "upper bound of log P(e); of argmax: of log P(assignment, e)"),
    CR_NUMBER("probability_difference", CR_FIELD_SOMETIMES,
              "of bp: how far a short run of gbp is off, at the most; of gbp: one of bp"),
    CR_MEASURE("log_evidence_difference", "nats", CR_FIELD_SOMETIMES, "of these: in log P(e)"),
    CR_COUNT("samples", CR_FIELD_SOMETIMES, "how many were drawn"),
    CR_NUMBER("effective", CR_FIELD_SOMETIMES, "as many independent samples would be as good"),
    CR_NUMBER("standard_error", CR_FIELD_SOMETIMES, "largest of the probabilities shown"),
    CR_MEASURE("log_evidence_se", "nats", CR_FIELD_SOMETIMES, "standard error of log_evidence"),
    CR_NUMBER("accepted", CR_FIELD_SOMETIMES, "share of the samples that agree with the evidence"),
    CR_NUMBER(
        "pareto_k", CR_FIELD_NULL | CR_FIELD_SOMETIMES,
        "shape of the tail of the weights; above 0.7 standard errors are too small; null: no tail"),
    CR_NUMBER("missed", CR_FIELD_SOMETIMES,
              "of importance: share of what a chain visits that outweighs every sample"),
    CR_COUNT("modes", CR_FIELD_SOMETIMES,
             "of importance: parts of the states that chains do not leave"),
    CR_COUNT("chains", CR_FIELD_SOMETIMES, "of Gibbs sampling"),
    CR_NUMBER("rhat", CR_FIELD_SOMETIMES, "potential scale reduction, the worst; 1 is good"),
    CR_COUNT("clusters", CR_FIELD_SOMETIMES, "of the join graph; of Gibbs sampling: blocks"),
    CR_COUNT("largest", CR_FIELD_SOMETIMES, "entries of the largest of these"),
    CR_FIELD_LAST,
};

/* Numbers and counts that the method has. */
static void put_number(cri_sheet *out, const char *name, double x)
{
    if (!isnan(x)) cri_put_real(out, name, x);
}

static void put_count(cri_sheet *out, const char *name, size_t n)
{
    if (n > 0) cri_put_count(out, name, n);
}

static bool iterates(const cr_approximate_report *r) { return r->iterations > 0; }

void approximate_put_error(const cr_approximate_report *r, cri_sheet *out)
{
    if (iterates(r) || r->chains > 0) cri_put_flag(out, "converged", r->converged);
    put_count(out, "iterations", r->iterations);
    put_number(out, "residual", r->residual);
    put_number(out, "damping", r->damping);
    put_number(out, "lower", r->lower);
    put_number(out, "upper", r->upper);
    put_number(out, "probability_difference", r->far);
    put_number(out, "log_evidence_difference", r->log_far);
    put_count(out, "samples", r->samples);
    put_number(out, "effective", r->effective);
    put_number(out, "standard_error", r->se);
    put_number(out, "log_evidence_se", r->log_evidence_se);
    put_number(out, "accepted", r->accepted);
    put_number(out, "pareto_k", r->pareto_k);
    put_number(out, "missed", r->missed);
    put_count(out, "modes", r->modes);
    put_count(out, "chains", r->chains);
    put_number(out, "rhat", r->rhat);
    put_count(out, "clusters", r->clusters);
    put_count(out, "largest", r->largest);
}

CR_PRINTF(4, 5)
static void add_words(char *text, size_t size, size_t *used, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text + *used, size - *used, format, args);
    va_end(args);
    if (n > 0) *used = *used + (size_t)n < size ? *used + (size_t)n : size - 1;
}

void approximate_line(cli *c, const char *method, const cr_approximate_report *r)
{
    char   text[512] = "";
    size_t n = 0;
    if (iterates(r))
        add_words(text, sizeof text, &n, ", %s after %zu sweep%s, residual %.2g",
                  r->converged ? "converged" : "not converged", r->iterations,
                  r->iterations == 1 ? "" : "s", r->residual);
    if (!isnan(r->lower)) add_words(text, sizeof text, &n, ", log P(e) >= %.6g", r->lower);
    if (!isnan(r->upper)) add_words(text, sizeof text, &n, ", log P(e) <= %.6g", r->upper);
    if (r->clusters > 0)
        add_words(text, sizeof text, &n, ", %zu %s%s of at most %zu entries", r->clusters,
                  r->chains > 0 ? "block" : "cluster", r->clusters == 1 ? "" : "s", r->largest);
    if (r->samples > 0 && !isnan(r->se))
        add_words(text, sizeof text, &n, ", standard error at most %.2g", r->se);
    if (r->samples > 0)
        add_words(text, sizeof text, &n, ", %zu samples (%.0f effective)", r->samples,
                  r->effective);
    if (!isnan(r->rhat)) add_words(text, sizeof text, &n, ", R-hat %.3f", r->rhat);
    out_text(c, "  approximate, by %s%s\n", method, text);
}

const char *approximate_settled(const cr_approximate_report *r)
{
    if (!iterates(r) && r->chains == 0) return "";
    return r->converged ? "true" : "false";
}

void approximate_warn(cli *c, const char *what, const char *method, const cr_approximate_report *r)
{
    if (iterates(r) && !r->converged)
        cr_log(c->cx, CR_LOG_WARNING,
               "%s: %s has not converged after %zu sweeps (residual %.2g): the answer may be far "
               "off",
               what, method, r->iterations, r->residual);
    else if (r->far > CR_APPROXIMATE_FAR || r->log_far > CR_APPROXIMATE_LOG_FAR)
        cr_log(c->cx, CR_LOG_WARNING,
               "%s: %s has converged, but messages between %s differ from it, by up to %.2g in a "
               "probability and by %.3g in log P(e)",
               what, method, r->clusters > 0 ? "single variables" : "small clusters", r->far,
               r->log_far);
    if (r->chains > 0 && !r->converged)
        cr_log(c->cx, CR_LOG_WARNING,
               "%s: the chains have not mixed (R-hat %.3f): the answer may be far off", what,
               r->rhat);
    if (r->samples > 0 && r->chains == 0 && r->effective < 100)
        cr_log(c->cx, CR_LOG_WARNING,
               "%s: only %.3g effective samples of %zu: the standard errors are too small", what,
               r->effective, r->samples);
    else if (r->pareto_k > CR_APPROXIMATE_HEAVY)
        cr_log(c->cx, CR_LOG_WARNING,
               "%s: a few weights outweigh the others (Pareto k %.2f): the standard errors are too "
               "small",
               what, r->pareto_k);
    if (r->missed > CR_APPROXIMATE_MISSED)
        cr_log(c->cx, CR_LOG_WARNING,
               "%s: samples hardly reach what a chain visits (%.2g of it): the answer may be far "
               "off, by "
               "more than the standard errors where chains miss something too",
               what, r->missed);
    else if (r->modes > 1)
        cr_log(c->cx, CR_LOG_WARNING,
               "%s: the states fall into parts that chains do not leave, %zu at least: a part that "
               "was not found is not in the standard errors",
               what, r->modes);
}

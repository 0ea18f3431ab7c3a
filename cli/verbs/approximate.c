/* approximate.c -- errors of approximate answers, for people. */
#include "approximate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static bool iterates(const cr_approximate_report *r) { return r->iterations > 0; }

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

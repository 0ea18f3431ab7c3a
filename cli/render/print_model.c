/* print_model.c -- what a model says of itself, for people. */
#include "../cli.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const cri_sheet *d, const char *name)
{
    const char *text = cri_sheet_text(cri_sheet_get(d, name));
    return text ? text : "";
}

/* What a model of columns knows of each: posterior and predictive distribution, evidence. */
static void print_distributions(cli *c, const cri_sheet *list)
{
    char number[32];
    for (const cri_sheet *d = cri_sheet_first(list); d; d = cri_sheet_next(d)) {
        double evidence = cri_sheet_real(cri_sheet_get(d, "log_evidence"));
        out_text(c, "\n  %s: n = %s", text_of(d, "column"),
                 out_number(cri_sheet_real(cri_sheet_get(d, "n")), false, number));
        if (!isnan(evidence)) out_text(c, ", log evidence %s", out_number(evidence, false, number));
        out_text(c, "\n    posterior   ");
        out_named(c, cri_sheet_get(d, "posterior"));
        out_text(c, "\n    predictive  ");
        out_named(c, cri_sheet_get(d, "predictive"));
        out_text(c, "\n");
    }
}

/* A row of a table for people: a list of texts becomes one text with commas, false is left out. */
static void flatten(const cri_sheet *row, cri_sheet *out)
{
    for (const cri_sheet *v = cri_sheet_first(row); v; v = cri_sheet_next(v)) {
        const char *name = cri_sheet_name(v);
        if (cri_sheet_kind_of(v) == CRI_SHEET_FLAG && !cri_sheet_is_true(v))
            cri_put_null(out, name);
        else if (cri_sheet_kind_of(v) == CRI_SHEET_LIST)
            cri_put_joined(out, name, v, ", ");
        else
            cri_put_copy(out, name, v);
    }
}

void cli_print_rows(cli *c, const char *title, const cri_sheet *rows)
{
    cri_sheet *s = cri_sheet_new(c->cx), *flat = cri_put_list(s, "rows");
    for (const cri_sheet *row = cri_sheet_first(rows); row; row = cri_sheet_next(row))
        flatten(row, cri_put_object(flat, NULL));
    if (cri_sheet_size(rows) > 0) out_text(c, "\n%s\n", title);
    if (cri_sheet_status(s) != CR_OK) out_fail(c, CR_ENOMEM);
    out_some_rows(c, flat);
    cri_sheet_free(s);
}

/* A tree: a line for each node, children below their parent and further in. */
static void print_tree(cli *c, const cri_sheet *list)
{
    char weight[32], value[32];
    if (cri_sheet_size(list) > 0) out_text(c, "\n");
    for (const cri_sheet *node = cri_sheet_first(list); node; node = cri_sheet_next(node)) {
        const char *label = text_of(node, "label");
        double      x = cri_sheet_real(cri_sheet_get(node, *label ? "share" : "mean"));
        out_text(c, "  %*s%s: n = %s, %s%s%s%s\n",
                 (int)(2 * cri_sheet_count(cri_sheet_get(node, "depth"))), "",
                 text_of(node, "rule"),
                 out_number(cri_sheet_real(cri_sheet_get(node, "weight")), false, weight), label,
                 *label ? " " : "mean ", out_number(x, false, value),
                 cri_sheet_is_true(cri_sheet_get(node, "leaf"))  ? " *"
                 : cri_sheet_is_true(cri_sheet_get(node, "cut")) ? " ..."
                                                                 : "");
    }
}

cr_status cli_put_exp(cli *c, cri_sheet *d)
{
    const cri_sheet *list = cri_sheet_get(d, "parameters");
    const cr_option *o = cr_option_find(c->verb->options, "exp");
    if (!o || !*(const bool *)((const char *)c->own + o->offset)) return CR_OK;
    if (strncmp(text_of(d, "coefficients"), "log", 3) != 0) {
        cr_fail(c->cx, CR_EARG, "--exp: the coefficients of %s are not on a logarithmic scale",
                text_of(d, "model"));
        return cr_fail_hint(c->cx, "only logistic, bayes-logistic, and glm with the link log or "
                                   "logit have such coefficients");
    }
    for (cri_sheet *row = cri_sheet_first(list); row; row = cri_sheet_next(row)) {
        cri_put_real(row, "exp", exp(cri_sheet_real(cri_sheet_get(row, "value"))));
        cri_put_real(row, "exp_lower", exp(cri_sheet_real(cri_sheet_get(row, "lower"))));
        cri_put_real(row, "exp_upper", exp(cri_sheet_real(cri_sheet_get(row, "upper"))));
    }
    return cri_sheet_status(d);
}

/* The text with its numbers as those of tables, of six digits; it is to be freed. */
static char *with_short_numbers(const char *text)
{
    char *out = cli_allocate(2 * strlen(text) + 32), *to = out;
    while (*text) {
        bool   inside = to > out && (isalnum((unsigned char)to[-1]) || strchr("_.", to[-1]));
        char  *end = NULL;
        double x = !inside && isdigit((unsigned char)*text) ? strtod(text, &end) : 0;
        if (end && end - text > 7)
            to += strlen(out_number(x, false, to)), text = end;
        else
            *to++ = *text++;
    }
    *to = '\0';
    return out;
}

/* Names with values; numbers within the expression of a kernel as short as all others. */
static void print_statistics(cli *c, const cri_sheet *list)
{
    cri_sheet *s = cri_sheet_new(c->cx);
    for (const cri_sheet *v = cri_sheet_first(list); v; v = cri_sheet_next(v)) {
        const char *name = cri_sheet_name(v);
        if (strcmp(name, "kernel") != 0 || cri_sheet_kind_of(v) != CRI_SHEET_TEXT) {
            cri_put_copy(s, name, v);
            continue;
        }
        char *text = with_short_numbers(cri_sheet_text(v));
        cri_put_text(s, name, text);
        free(text);
    }
    if (cri_sheet_status(s) != CR_OK) out_fail(c, CR_ENOMEM);
    out_values(c, s);
    cri_sheet_free(s);
}

/* Which statistics are of g(y). */
static void print_transformed(cli *c, const cri_sheet *names, const char *transform,
                              const char *target)
{
    out_text(c, "\nof %s(%s), not of %s:", transform, target, target);
    for (const cri_sheet *v = cri_sheet_first(names); v; v = cri_sheet_next(v))
        out_text(c, "%s %s", v == cri_sheet_first(names) ? "" : ",", cri_sheet_text(v));
    out_text(c, "\n");
}

void cli_print_model(cli *c, const cri_sheet *d)
{
    char        number[32];
    double      evidence = cri_sheet_real(cri_sheet_get(d, "log_evidence"));
    double      likelihood = cri_sheet_real(cri_sheet_get(d, "log_likelihood"));
    size_t      iterations = cri_sheet_count(cri_sheet_get(d, "iterations"));
    size_t      columns = cri_sheet_size(cri_sheet_get(d, "features"));
    const char *target = text_of(d, "target");
    const char *transform = text_of(cri_sheet_get(d, "settings"), "transform_target");
    bool        plain = !*transform || strcmp(transform, "none") == 0; /* else log(y), say */
    out_text(c, "%s: %s%s%s%s%s%zu column%s, %zu rows, scale %s, seed %zu\n", text_of(d, "model"),
             plain ? "" : transform, plain ? "" : "(", target, plain ? "" : ")",
             *target ? " ~ " : "", columns, columns == 1 ? "" : "s",
             cri_sheet_count(cri_sheet_get(d, "rows")), text_of(d, "scale"),
             cri_sheet_count(cri_sheet_get(d, "seed")));
    out_text(c, "%s", text_of(d, "stop"));
    if (iterations > 0) out_text(c, " after %zu iterations", iterations);
    if (!isnan(evidence)) out_text(c, ", log evidence %s", out_number(evidence, false, number));
    if (!isnan(likelihood))
        out_text(c, ", log likelihood %s", out_number(likelihood, false, number));
    out_text(c, "\n\n");
    print_statistics(c, cri_sheet_get(d, "statistics"));
    if (cri_sheet_size(cri_sheet_get(d, "transformed")) > 0)
        print_transformed(c, cri_sheet_get(d, "transformed"), transform, target);
    if (cri_sheet_size(cri_sheet_get(d, "arcs")) > 0)
        cli_print_rows(c, "arcs", cri_sheet_get(d, "arcs"));
    out_text(c, "\n");
    if (*text_of(d, "coefficients") && cri_sheet_size(cri_sheet_get(d, "parameters")) > 0)
        out_text(c, "coefficients: %s\n", text_of(d, "coefficients"));
    out_terms(c, cri_sheet_get(d, "parameters"));
    print_distributions(c, cri_sheet_get(d, "distributions"));
    cli_print_rows(c, "topics", cri_sheet_get(d, "summary"));
    cli_print_rows(c, "subsets", cri_sheet_get(d, "subsets"));
    cli_print_rows(c, "choice", cri_sheet_get(d, "choice"));
    cli_print_rows(c, "groups", cri_sheet_get(d, "groups"));
    cli_print_rows(c, "machines", cri_sheet_get(d, "machines"));
    cli_print_rows(c, "prices", cri_sheet_get(d, "prices"));
    cli_print_rows(c, "calibration", cri_sheet_get(d, "calibration"));
    cli_print_rows(c, "conformal", cri_sheet_get(d, "conformal"));
    print_tree(c, cri_sheet_get(d, "tree"));
}

void cli_print_parameters(cli *c, const cri_sheet *description)
{
    const cri_sheet *list = cri_sheet_get(description, "parameters");
    cri_sheet       *s = cri_sheet_new(c->cx), *rows = cri_put_list(s, "rows");
    const cri_sheet *v = cri_sheet_first(cri_sheet_get(description, "statistics"));
    for (; v; v = cri_sheet_next(v)) {
        if (isnan(cri_sheet_real(v))) continue;
        cri_sheet *row = cri_put_object(rows, NULL);
        cri_put_text(row, "name", cri_sheet_name(v));
        cri_put_copy(row, "value", v);
    }
    if (cri_sheet_status(s) != CR_OK) out_fail(c, CR_ENOMEM);
    out_rows(c, cri_sheet_size(list) ? list : rows);
    cri_sheet_free(s);
}

/* kernel_pages.c -- the list of kernels, and the page about one: all from their tables. */
#include "kernel_pages.h"
#include "math/kernel/kernel.h"

#include <stdio.h>

static const cr_field kernel_parameter[] = {
    CR_TEXT("name", 0, "name of the parameter"),
    CR_TEXT("alias", 0, "another name, or empty"),
    CR_TEXT("default", 0, "default value"),
    CR_TEXT("range", 0, "allowed values, or empty"),
    CR_FLAG("learned", 0, "whether a fit can change it"),
    CR_TEXT("help", 0, "what it does"),
    CR_FIELD_LAST,
};

const cr_field kernel_fields[] = {
    CR_TEXT("name", 0, "name of the kernel"),
    CR_TEXT("aliases", 0, "other names, separated by blanks"),
    CR_TEXT("acts_on", 0, "numbers, categories, texts or nothing"),
    CR_TEXT("summary", 0, "one line"),
    CR_TEXT("formula", 0, "the kernel in plain text"),
    CR_TEXT("example", 0, "an expression"),
    CR_TEXT("reference", 0, "book or paper"),
    CR_INNER(ROWS, "parameters", 0, "its parameters", kernel_parameter),
    CR_FIELD_LAST,
};

static void put_parameter(const cr_kernel_spec *spec, cri_sheet *row)
{
    cri_put_text(row, "name", spec->name);
    cri_put_text(row, "alias", spec->alias ? spec->alias : "");
    cri_put_text(row, "default", spec->fallback);
    cri_put_text(row, "range", spec->range);
    cri_put_flag(row, "learned", spec->learned);
    cri_put_text(row, "help", spec->help);
}

static void put_kernel(const cr_kernel_class *k, cri_sheet *one)
{
    cri_put_text(one, "name", cr_kernel_name(k));
    cri_put_text(one, "aliases", cr_kernel_aliases(k));
    cri_put_text(one, "acts_on", cr_kernel_acts_on(k));
    cri_put_text(one, "summary", cr_kernel_summary(k));
    cri_put_text(one, "formula", cr_kernel_formula(k));
    cri_put_text(one, "example", cr_kernel_example(k));
    cri_put_text(one, "reference", cr_kernel_reference(k));
    cri_sheet *parameters = cri_put_list(one, "parameters");
    for (size_t i = 0; cr_kernel_spec_at(k, i); i++)
        put_parameter(cr_kernel_spec_at(k, i), cri_put_object(parameters, NULL));
}

static void put_row(const cr_kernel_class *k, cri_sheet *row)
{
    char   names[128] = "";
    size_t used = 0;
    for (size_t i = 0; cr_kernel_spec_at(k, i) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? " " : "",
                                 cr_kernel_spec_at(k, i)->name);
    cri_put_text(row, "name", cr_kernel_name(k));
    cri_put_text(row, "acts_on", cr_kernel_acts_on(k));
    cri_put_text(row, "parameters", names);
    cri_put_text(row, "summary", cr_kernel_summary(k));
}

static void print_page(cli *c, const cr_kernel_class *k)
{
    out_text(c, "%s - %s\n\n", cr_kernel_name(k), cr_kernel_summary(k));
    out_lines(c, cr_kernel_formula(k), SIZE_MAX);
    if (cr_kernel_aliases(k)[0]) out_text(c, "\nOther names: %s\n", cr_kernel_aliases(k));
    out_text(c, "Acts on: %s\n", cr_kernel_acts_on(k));
    if (cr_kernel_spec_at(k, 0)) out_text(c, "\nParameters:\n");
    for (size_t i = 0; cr_kernel_spec_at(k, i); i++) {
        const cr_kernel_spec *s = cr_kernel_spec_at(k, i);
        char                  name[64];
        snprintf(name, sizeof name, "%s%s%s", s->name, s->alias ? ", " : "",
                 s->alias ? s->alias : "");
        out_text(c, "  %-16s %s%s%s%s [%s]\n", name, s->help, s->range[0] ? "; " : "", s->range,
                 s->learned ? "; learned" : "", s->fallback);
    }
    out_text(c, "\nExample: %s\n\nReference: %s\n", cr_kernel_example(k), cr_kernel_reference(k));
}

cr_status cli_kernels(cli *c, const char *opt_name)
{
    cr_status              st = CR_OK;
    const cr_kernel_class *one = opt_name ? cr_kernel_find(c->cx, opt_name) : NULL;
    cli_result             r = cli_result_new(c);
    cri_sheet             *all = cri_put_list(r.object, "kernels");
    if (opt_name && !one) CR_TRY(CR_EARG);
    for (size_t i = 0; i < cr_kernel_count(); i++) {
        const cr_kernel_class *k = cr_kernel_at(i);
        if (one && k != one) continue;
        put_kernel(k, cri_put_object(all, NULL));
        put_row(k, cri_put_object(r.rows, NULL));
    }
    CR_TRY(cli_result_open(c, r));
    if (c->format == FORMAT_JSON)
        out_result(c, "models", r.object);
    else if (one)
        print_page(c, one);
    else
        out_rows(c, r.rows);
done:
    cli_result_free(r);
    return st;
}

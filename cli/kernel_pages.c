/* kernel_pages.c -- the list of kernels, and the page about one: all from their tables. */
#include "kernel_pages.h"
#include "math/kernel/kernel.h"

#include <stdio.h>
#include <string.h>

static json_t *spec_object(const cr_kernel_spec *spec)
{
    json_t *row = json_object();
    json_object_set_new(row, "name", json_string(spec->name));
    json_object_set_new(row, "alias", json_string(spec->alias ? spec->alias : ""));
    json_object_set_new(row, "default", json_string(spec->fallback));
    json_object_set_new(row, "range", json_string(spec->range));
    json_object_set_new(row, "learned", json_boolean(spec->learned));
    json_object_set_new(row, "help", json_string(spec->help));
    return row;
}

static json_t *kernel_object(const cr_kernel_class *k)
{
    json_t *one = json_object(), *parameters = json_array();
    json_object_set_new(one, "name", json_string(cr_kernel_name(k)));
    json_object_set_new(one, "aliases", json_string(cr_kernel_aliases(k)));
    json_object_set_new(one, "acts_on", json_string(cr_kernel_acts_on(k)));
    json_object_set_new(one, "summary", json_string(cr_kernel_summary(k)));
    json_object_set_new(one, "formula", json_string(cr_kernel_formula(k)));
    json_object_set_new(one, "example", json_string(cr_kernel_example(k)));
    json_object_set_new(one, "reference", json_string(cr_kernel_reference(k)));
    for (size_t i = 0; cr_kernel_spec_at(k, i); i++)
        json_array_append_new(parameters, spec_object(cr_kernel_spec_at(k, i)));
    json_object_set_new(one, "parameters", parameters);
    return one;
}

static json_t *kernel_row(const cr_kernel_class *k)
{
    json_t *row = json_object();
    char    names[128] = "";
    size_t  used = 0;
    for (size_t i = 0; cr_kernel_spec_at(k, i) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? " " : "",
                                 cr_kernel_spec_at(k, i)->name);
    json_object_set_new(row, "name", json_string(cr_kernel_name(k)));
    json_object_set_new(row, "acts_on", json_string(cr_kernel_acts_on(k)));
    json_object_set_new(row, "parameters", json_string(names));
    json_object_set_new(row, "summary", json_string(cr_kernel_summary(k)));
    return row;
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
    bool                   whole = c->format == FORMAT_JSON;
    const cr_kernel_class *one = opt_name ? cr_kernel_find(c->cx, opt_name) : NULL;
    json_t                *root = json_object(), *rows = json_array();
    if (opt_name && !one) CR_TRY(CR_EARG);
    for (size_t i = 0; i < cr_kernel_count(); i++) {
        const cr_kernel_class *k = cr_kernel_at(i);
        if (one && k != one) continue;
        json_array_append_new(rows, whole ? kernel_object(k) : kernel_row(k));
    }
    json_object_set(root, "kernels", rows);
    CR_TRY(out_open(c, c->global.output));
    if (whole)
        out_json(c, "models", root);
    else if (one)
        print_page(c, one);
    else
        out_table(c, rows);
done:
    json_decref(root);
    json_decref(rows);
    return st;
}

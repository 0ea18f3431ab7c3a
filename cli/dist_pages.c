/* dist_pages.c -- the list of distributions, and the page about one: all from the descriptors. */
#include "dist_job.h"

#include <stdio.h>
#include <string.h>

static void parameter_list(const cr_dist_class *d, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; cr_dist_parameter(d, i) && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " " : "",
                                 cr_dist_parameter(d, i)->name);
}

static const char *const offers[] = { "logpdf",  "cdf",    "quantile", "mean", "mode",   "variance",
                                      "entropy", "sample", "fit",      "kl",   "natural" };
enum { N_OFFERS = sizeof offers / sizeof *offers };

static json_t *describe_one(const cr_dist_class *d)
{
    json_t *one = json_object(), *params = json_array(), *can = json_array();
    json_object_set_new(one, "name", json_string(cr_dist_name(d)));
    json_object_set_new(one, "summary", json_string(cr_dist_summary(d)));
    json_object_set_new(one, "formula", json_string(cr_dist_formula(d)));
    json_object_set_new(one, "support", json_string(cr_dist_support_text(d)));
    json_object_set_new(one, "discrete", json_boolean(cr_dist_is_discrete(d)));
    json_object_set_new(one, "reference", json_string(cr_dist_reference(d)));
    for (size_t i = 0; cr_dist_parameter(d, i); i++) {
        const cr_dist_param *p = cr_dist_parameter(d, i);
        json_t              *row = json_object();
        json_object_set_new(row, "name", json_string(p->name));
        json_object_set_new(row, "domain", json_string(p->domain));
        json_object_set_new(row, "help", json_string(p->help));
        json_object_set_new(row, "example", json_string(p->example));
        json_array_append_new(params, row);
    }
    for (size_t i = 0; i < N_OFFERS; i++)
        if (cr_dist_offers(d, offers[i])) json_array_append_new(can, json_string(offers[i]));
    json_object_set_new(one, "parameters", params);
    json_object_set_new(one, "offers", can);
    return one;
}

static void print_page(cli *c, const cr_dist_class *d)
{
    out_text(c, "%s - %s\n\n", cr_dist_name(d), cr_dist_summary(d));
    out_lines(c, cr_dist_formula(d), SIZE_MAX);
    out_text(c, "  %s\n\nParameters:\n", cr_dist_support_text(d));
    for (size_t i = 0; cr_dist_parameter(d, i); i++) {
        const cr_dist_param *p = cr_dist_parameter(d, i);
        out_text(c, "  %-12s %s; %s\n", p->name, p->help, p->domain);
    }
    out_text(c, "\nOffers:");
    for (size_t i = 0; i < N_OFFERS; i++)
        if (cr_dist_offers(d, offers[i])) out_text(c, " %s", offers[i]);
    out_text(c, "\n\nExample:\n  credence dist %s", cr_dist_name(d));
    for (size_t i = 0; cr_dist_parameter(d, i); i++) {
        const char *example = cr_dist_parameter(d, i)->example;
        out_text(c, strchr(example, ';') ? " '%s'" : " %s", example);
    }
    out_text(c, " --mean --sample 5\n\nReference: %s\n", cr_dist_reference(d));
}

cr_status dist_explain(cli *c, const cr_dist_class *d)
{
    cr_status st = out_open(c, c->global.output);
    if (st != CR_OK) return st;
    if (c->format != FORMAT_JSON) {
        print_page(c, d);
        return CR_OK;
    }
    json_t *one = describe_one(d);
    out_json(c, "dist", one);
    json_decref(one);
    return st;
}

cr_status dist_list(cli *c)
{
    cr_status st = out_open(c, c->global.output);
    json_t   *root = json_object(), *rows = json_array();
    bool      whole = c->format == FORMAT_JSON;
    for (size_t i = 0; st == CR_OK && i < cr_dist_count(); i++) {
        const cr_dist_class *d = cr_dist_at(i);
        json_t              *row = whole ? describe_one(d) : json_object();
        char                 params[128];
        parameter_list(d, params, sizeof params);
        if (!whole) {
            json_object_set_new(row, "name", json_string(cr_dist_name(d)));
            json_object_set_new(row, "parameters", json_string(params));
            json_object_set_new(row, "summary", json_string(cr_dist_summary(d)));
        }
        json_array_append_new(rows, row);
    }
    json_object_set(root, "distributions", rows);
    if (st == CR_OK && whole)
        out_json(c, "dist", root);
    else if (st == CR_OK)
        out_table(c, rows);
    json_decref(root);
    json_decref(rows);
    return st;
}

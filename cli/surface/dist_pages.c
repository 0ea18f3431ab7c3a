/* dist_pages.c -- the list of distributions, and the page about one: all from the descriptors. */
#include "../verbs/dist_job.h"

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

static void put_about(const cr_dist_class *d, cri_sheet *one)
{
    cri_put_text(one, "name", cr_dist_name(d));
    cri_put_text(one, "summary", cr_dist_summary(d));
    cri_put_text(one, "formula", cr_dist_formula(d));
    cri_put_text(one, "support", cr_dist_support_text(d));
    cri_put_flag(one, "discrete", cr_dist_is_discrete(d));
    cri_put_text(one, "reference", cr_dist_reference(d));
    cri_sheet *parameters = cri_put_list(one, "parameters");
    for (size_t i = 0; cr_dist_parameter(d, i); i++) {
        const cr_dist_param *p = cr_dist_parameter(d, i);
        cri_sheet           *row = cri_put_object(parameters, NULL);
        cri_put_text(row, "name", p->name);
        cri_put_text(row, "domain", p->domain);
        cri_put_text(row, "help", p->help);
        cri_put_text(row, "example", p->example);
    }
    cri_sheet *can = cri_put_list(one, "offers");
    for (size_t i = 0; i < N_OFFERS; i++)
        if (cr_dist_offers(d, offers[i])) cri_put_text(can, NULL, offers[i]);
}

static void print_page(cli *c, const cr_dist_class *d)
{
    out_text(c, "%s - %s\n\n", cr_dist_name(d), cr_dist_summary(d));
    out_lines(c, cr_dist_formula(d), SIZE_MAX);
    out_text(c, "  %s\n\nParameters:\n", cr_dist_support_text(d));
    for (size_t i = 0; cr_dist_parameter(d, i); i++) {
        const cr_dist_param *p = cr_dist_parameter(d, i);
        out_text(c, "  %-12s %s; %s%s%s\n", p->name, p->help, p->domain,
                 p->standard ? "; default " : "", p->standard ? p->example : "");
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
    cr_status  st = CR_OK;
    cli_result r = cli_result_new(c);
    put_about(d, r.object);
    CR_TRY(cli_result_open(c, r));
    if (c->format == FORMAT_JSON)
        out_result(c, "dist", r.object);
    else
        print_page(c, d);
done:
    cli_result_free(r);
    return st;
}

cr_status dist_list(cli *c)
{
    cr_status  st;
    cli_result r = cli_result_new(c);
    bool       whole = c->format == FORMAT_JSON;
    cri_sheet *list = whole ? cri_put_list(r.object, "distributions") : r.rows;
    for (size_t i = 0; i < cr_dist_count(); i++) {
        const cr_dist_class *d = cr_dist_at(i);
        cri_sheet           *row = cri_put_object(list, NULL);
        char                 parameters[128];
        if (whole) {
            put_about(d, row);
            continue;
        }
        parameter_list(d, parameters, sizeof parameters);
        cri_put_text(row, "name", cr_dist_name(d));
        cri_put_text(row, "parameters", parameters);
        cri_put_text(row, "summary", cr_dist_summary(d));
    }
    st = cli_result_print(c, r);
    cli_result_free(r);
    return st;
}

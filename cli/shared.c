/* shared.c -- steps that several verbs take: read data, look into a model. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Columns that were categories when the model was fitted are categories now, also if they look like
 * numbers here. */
static cr_status take_categories(cli *c, const cr_design *design)
{
    cr_status st = CR_OK;
    for (size_t i = 0; i < cr_design_columns(design) && st == CR_OK; i++)
        if (cr_design_column_type(design, i) == CR_CATEGORY)
            st = cr_options_set(c->cx, cr_read_table, &c->read, "category",
                                cr_design_column_name(design, i));
    return st;
}

cr_status cli_read_data(cli *c, size_t index, const cr_model *opt_model, cr_table **out_table)
{
    cr_status   st = CR_OK;
    const char *path = c->args[index];
    if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO)) {
        cr_fail(c->cx, CR_EARG, "standard input is a terminal: there are no data to read");
        return cr_fail_hint(c->cx, "pipe the data in, or name a file");
    }
    if (opt_model) CR_TRY(take_categories(c, cr_model_get_design(opt_model)));
    CR_TRY(cr_table_read(c->cx, path, &c->read, out_table));
done:
    return st;
}

bool cli_is_model(const char *path)
{
    char  head[40] = "";
    FILE *f = fopen(path, "rb");
    if (!f) return strlen(path) > 5 && strcmp(path + strlen(path) - 5, ".cred") == 0;
    size_t n = fread(head, 1, sizeof head, f);
    fclose(f);
    return (n == sizeof head && memcmp(head, "PK\3\4", 4) == 0 &&
            memcmp(head + 30, "model.json", 10) == 0) ||
           (strlen(path) > 5 && strcmp(path + strlen(path) - 5, ".cred") == 0);
}

cr_status cli_describe_model(cli *c, const cr_model *model, json_t **out)
{
    char     *text = NULL;
    cr_status st = cr_describe(c->cx, model, &text);
    if (st != CR_OK) return st;
    *out = json_loads(text, 0, NULL);
    cr_free(c->cx, text, strlen(text) + 1, 1);
    return *out ? CR_OK : cr_fail(c->cx, CR_ENOMEM, "out of memory");
}

static const char *text_of(const json_t *d, const char *key)
{
    const char *text = json_string_value(json_object_get(d, key));
    return text ? text : "";
}

void cli_print_model(cli *c, const json_t *d)
{
    char    number[32];
    json_t *evidence = json_object_get(d, "log_evidence");
    json_t *likelihood = json_object_get(d, "log_likelihood");
    out_text(c, "%s: %s ~ %zu column%s, %lld rows, scale %s, seed %lld\n", text_of(d, "model"),
             text_of(d, "target"), json_array_size(json_object_get(d, "features")),
             json_array_size(json_object_get(d, "features")) == 1 ? "" : "s",
             (long long)json_integer_value(json_object_get(d, "rows")), text_of(d, "scale"),
             (long long)json_integer_value(json_object_get(d, "seed")));
    out_text(c, "%s", text_of(d, "stop"));
    if (json_integer_value(json_object_get(d, "iterations")) > 0)
        out_text(c, " after %lld iterations",
                 (long long)json_integer_value(json_object_get(d, "iterations")));
    if (json_is_number(evidence))
        out_text(c, ", log evidence %s", out_number(json_number_value(evidence), false, number));
    if (json_is_number(likelihood))
        out_text(c, ", log likelihood %s", out_number(json_number_value(likelihood), false, number));
    out_text(c, "\n\n");
    out_pairs(c, json_object_get(d, "statistics"));
    out_text(c, "\n");
    out_table(c, json_object_get(d, "parameters"));
}

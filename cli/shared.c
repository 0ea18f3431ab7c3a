/* shared.c -- steps that several verbs take: read data and models, check settings and output, look
 * into a model. */
#include "cli.h"
#include "base/file.h"
#include "data/design/design_internal.h"
#include "data/formats/read_internal.h"
#include "data/stream/stream_internal.h"
#include "data/table/date.h"
#include "models/core/faces.h"
#include "models/core/network_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- input ----------------------------------------------------------------------------------- */

bool cli_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static bool is_stream(const char *path) { return strcmp(path, "-") == 0; }

/* Standard input serves one argument, and not from a keyboard. */
static cr_status check_stdin(cli *c, size_t index)
{
    if (!is_stream(c->args[index])) return CR_OK;
    for (size_t i = 0; i < c->n_args; i++)
        if (i != index && is_stream(c->args[i]) && c->verb->takes & VERB_READS)
            return cr_fail(c->cx, CR_EARG, "standard input can be used for only one argument");
    if (!isatty(STDIN_FILENO)) return CR_OK;
    cr_fail(c->cx, CR_EARG, "standard input is a terminal, so there is nothing to read");
    return cr_fail_hint(c->cx, "pipe the data in, or name a file");
}

cr_status cli_read_data(cli *c, size_t index, const cr_model *opt_model, cr_table **out_table)
{
    cr_status st = CR_OK;
    CR_TRY(check_stdin(c, index));
    if (opt_model) CR_TRY(cr_model_read_options(c->cx, opt_model, &c->read));
    CR_TRY(cr_table_read(c->cx, c->args[index], &c->read, out_table));
done:
    return st;
}

cr_status cli_read_rows(cli *c, size_t index, const cr_model *model, cr_table **out_table)
{
    cr_status st = CR_OK;
    CR_TRY(check_stdin(c, index));
    CR_TRY(cr_model_read_options(c->cx, model, &c->read));
    CR_TRY(cri_table_read_any(c->cx, c->args[index], &c->read, out_table));
done:
    return st;
}

/* The target, when the model to fit does nothing but classify. */
static const char *class_target(const cli *c)
{
    const cr_model_class *m = c->verb->takes & VERB_FITS ? cr_class_find(c->cx, c->args[0]) : NULL;
    if (!m || cr_class_tasks(m) != CR_TASK_CLASSIFICATION) return NULL;
    for (size_t i = c->n_settings; i-- > 0;)
        if (strcmp(c->settings[i].name, "target") == 0) return c->settings[i].value;
    return NULL;
}

static bool needs_passes(const cli *c)
{
    const cr_model_class *m = c->verb->takes & VERB_FITS ? cr_class_find(c->cx, c->args[0]) : NULL;
    return m && cr_class_offers(m, "passes");
}

cr_status cli_open_stream(cli *c, size_t index, const cr_model *opt_model, size_t rows,
                          cr_stream **out_stream)
{
    cr_status   st = CR_OK;
    const char *target = class_target(c);
    CR_TRY(check_stdin(c, index));
    if (opt_model) CR_TRY(cr_model_read_options(c->cx, opt_model, &c->read));
    if (target) CR_TRY(cr_options_add(c->cx, cr_read_table, &c->read, "category", target));
    CR_TRY(needs_passes(c) && cli_is_pipe(c->args[index])
               ? cli_open_stored(c, c->args[index], rows, out_stream)
               : cr_stream_open(c->cx, c->args[index], &c->read, rows, out_stream));
done:
    return st;
}

/* What a model reads, and what is carried along. */
typedef struct wanted {
    const cr_model *model;
    char *const    *carried;
    size_t          n;
} wanted;

static bool is_wanted(const void *arg, const char *column)
{
    const wanted *w = arg;
    const char   *beside;
    for (size_t k = 0; k < w->n; k++)
        if (strcmp(w->carried[k], column) == 0) return true;
    for (size_t k = 0; (beside = cri_model_beside(w->model, k)); k++)
        if (strcmp(beside, column) == 0) return true;
    return cri_design_reads(cr_model_get_design(w->model), column);
}

/* Numbers and dates that a model learned from are such now, also where the first of them is missing. */
static cr_status take_types(cli *c, const cr_model *model)
{
    cr_status        st = CR_OK;
    const cr_design *d = cr_model_get_design(model);
    const char      *beside;
    for (size_t k = 0; st == CR_OK && (beside = cri_model_beside(model, k)); k++)
        st = cr_options_add(c->cx, cr_read_table, &c->read, "real", beside);
    for (size_t i = d->block.n; i < cr_design_columns(d) && st == CR_OK; i++) {
        const char *name = cr_design_column_name(d, i);
        cr_type     type = cr_design_column_type(d, i);
        bool        date = cri_is_date(type) && !cr_design_column_format(d, i);
        if (type == CR_REAL || type == CR_INTEGER || date)
            st = cr_options_add(c->cx, cr_read_table, &c->read, date ? "date" : "real", name);
    }
    return st;
}

cr_status cli_open_rows(cli *c, size_t index, const cr_model *model, char *const *carried,
                        size_t n_carried, size_t rows, cr_stream **out_stream)
{
    cr_status st = CR_OK;
    wanted    w = { model, carried, n_carried };
    CR_TRY(check_stdin(c, index));
    CR_TRY(cr_model_read_options(c->cx, model, &c->read));
    CR_TRY(take_types(c, model));
    CR_TRY(cri_stream_open_known(c->cx, c->args[index], &c->read, rows,
                                 (cri_wanted){ is_wanted, &w }, out_stream));
done:
    return st;
}

/* All of a source as a model. */
static cr_status load_model(cli *c, cri_source *source, cr_model **out_model)
{
    cri_block data = { 0 };
    cr_status st = cri_source_load(c->cx, source, &data);
    if (st == CR_OK)
        st = cr_model_from_bytes(c->cx, cri_source_name(source), data.bytes, data.size, out_model);
    cr_free(c->cx, data.bytes, data.capacity, 1);
    return st;
}

cr_status cli_read_model(cli *c, size_t index, cr_model **out_model)
{
    cr_status   st = CR_OK;
    cri_source *source = NULL;
    const char *path = c->args[index];
    if (!is_stream(path)) return cr_model_load(c->cx, path, out_model);
    CR_TRY(check_stdin(c, index));
    CR_TRY(cri_source_open(c->cx, path, &source));
    CR_TRY(load_model(c, source, out_model));
done:
    cri_source_close(source);
    return st;
}

/* Told by the name, so that a damaged model is not taken for bad data, or by the first bytes. */
static bool looks_like_model(const char *path, const char *bytes, size_t size)
{
    static const char name[] = "model.json";
    enum { NAME_AT = 30 }; /* in a zip archive: that of the first entry */
    return cli_ends_with(path, ".cred") ||
           (size >= NAME_AT + sizeof name - 1 && memcmp(bytes, "PK\3\4", 4) == 0 &&
            memcmp(bytes + NAME_AT, name, sizeof name - 1) == 0);
}

cr_status cli_read_any(cli *c, size_t index, cr_table **out_table, cr_model **out_model)
{
    cr_status   st = CR_OK;
    cri_source *source = NULL;
    const char *path = c->args[index], *bytes = NULL;
    size_t      size = 0;
    if (cri_is_database(path, &c->read)) return cli_read_data(c, index, NULL, out_table);
    CR_TRY(check_stdin(c, index));
    CR_TRY(cri_source_open(c->cx, path, &source)); /* once: a pipe cannot be read again */
    CR_TRY(cri_source_peek(source, 64, &bytes, &size));
    if (looks_like_model(path, bytes, size))
        CR_TRY(load_model(c, source, out_model));
    else
        CR_TRY(cri_table_read_source(c->cx, path, source, &c->read, out_table));
done:
    cri_source_close(source);
    return st;
}

const char *cli_tasks(unsigned tasks, char out[128])
{
    size_t used = 0;
    out[0] = '\0';
    for (unsigned bit = 1; bit <= CR_TASK_NETWORK && used < 100; bit <<= 1)
        if (tasks & bit)
            used += (size_t)snprintf(out + used, 128 - used, "%s%s", used ? ", " : "",
                                     cr_task_name(bit));
    return out;
}

/* --- settings -------------------------------------------------------------------------------- */

bool cli_takes_setting(const cr_model_class *m, const char *name)
{
    return cr_option_find(cr_class_options(m), name) || cr_option_find(cr_design_table, name) ||
           cr_option_find(cr_fit_table, name);
}

static bool has_option(const void *model, const char *name)
{
    return cr_option_find(cr_class_options(model), name) != NULL;
}

/* An option that only other models have: says which, or what this one calls it. */
static cr_status foreign_option(cli *c, const cr_model_class *m, const char *name)
{
    char   flag[64], others[512] = "";
    size_t used = 0;
    cli_spell(name, flag);
    for (size_t i = 0; i < cr_class_count() && used < sizeof others - 64; i++)
        if (cr_option_find(cr_class_options(cr_class_at(i)), name))
            used += (size_t)snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "",
                                     cr_class_name(cr_class_at(i)));
    cr_fail(c->cx, CR_EARG, "the model %s has no option --%s", cr_class_name(m), flag);
    cr_fail_note(c->cx, "models with --%s: %s", flag, others);
    const char *meant = cli_other_option(flag, has_option, m);
    if (meant) return cli_fail_other_option(c, flag, meant);
    return cr_fail_hint(c->cx, "credence models %s lists its options", cr_class_name(m));
}

cr_status cli_check_settings(cli *c)
{
    const cr_model_class *m = cr_class_find(c->cx, c->args[0]);
    if (!m) return CR_EARG;
    for (size_t i = 0; i < c->n_settings; i++)
        if (!cli_takes_setting(m, c->settings[i].name))
            return foreign_option(c, m, c->settings[i].name);
    return cr_check_settings(c->cx, c->args[0], c->settings, c->n_settings);
}

/* --- output ---------------------------------------------------------------------------------- */

static bool same_file(const struct stat *a, const char *path)
{
    struct stat b;
    if (stat(path, &b) != 0 || !S_ISREG(b.st_mode)) return false;
    return a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

cr_status cli_check_output(cli *c, const char *path, size_t first)
{
    cr_status   st = CR_OK;
    cri_file   *probe = NULL;
    struct stat info;
    if (is_stream(path)) {
        if (c->verb->takes & VERB_SAVES && isatty(STDOUT_FILENO))
            st = cr_fail(c->cx, CR_EARG, "a model is not text and is not written to a terminal");
        return st;
    }
    bool exists = stat(path, &info) == 0;
    for (size_t i = first; exists && i < c->n_args; i++)
        if (c->verb->takes & VERB_READS && same_file(&info, c->args[i])) {
            cr_fail(c->cx, CR_EARG, "the output %s would replace the input %s", path, c->args[i]);
            return cr_fail_hint(c->cx, "give the output a different name");
        }
    bool stream = exists && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode); /* pipe, device */
    if (stream) return CR_OK;
    CR_TRY(cri_file_create(c->cx, path, &probe));
done:
    cri_file_abandon(probe);
    return st;
}

/* A network goes into a file of the format that its name says, .cred being that of models; other models always are one. */
static cr_status save_model(cli *c, const cr_model *model, const char *path)
{
    cr_network_format f = cr_network_format_of(path);
    bool network = f != CR_FORMAT_AUTO && f != CR_FORMAT_CRED && cr_model_variables(model, NULL);
    return network ? cr_model_write_network(c->cx, model, path, f)
                   : cr_model_save(c->cx, model, path);
}

cr_status cli_print_and_save(cli *c, const cr_model                                  *opt_model,
                             cr_status (*print)(cli *c, const void *arg), const void *arg)
{
    cr_status   st = CR_OK;
    const char *path = opt_model ? c->global.output : NULL;

    if (path && !is_stream(path)) CR_TRY(save_model(c, opt_model, path));
    CR_TRY(out_open(c, NULL));
    if (path && is_stream(path)) {
        char  *bytes = NULL;
        size_t size = 0;
        CR_TRY(cr_model_to_bytes(c->cx, opt_model, &bytes, &size));
        out_bytes(c, bytes, size);
        cr_free(c->cx, bytes, size, 1);
        goto done;
    }
    CR_TRY(print(c, arg));
    if (path && c->format == FORMAT_TEXT) out_text(c, "saved to %s\n", path);
done:
    return st;
}

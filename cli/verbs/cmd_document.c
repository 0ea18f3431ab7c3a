/* cmd_document.c -- document: man pages, pages of the manual and JSON schemas as files, for the
 * build. */
#include "../surface/surface.h"
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Makes the folders on the way to `path`. */
static cr_status make_folders(cli *c, const char *path)
{
    char folder[1024];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return cr_fail(c->cx, CR_EIO, "cannot make the folder %s: %s", folder, strerror(errno));
    }
    return CR_OK;
}

static cr_status write_page(cli *c, const page_style *s, page p)
{
    cr_status st = CR_OK;
    char      name[256], path[1024];
    s->path(p, name, sizeof name);
    snprintf(path, sizeof path, "%s/%s", c->args[1], name);
    CR_TRY(make_folders(c, path));
    CR_TRY(out_open(c, path));
    reference_page(c, s, p);
    CR_TRY(out_close(c, CR_OK));
done:
    return st;
}

static cr_status write_pages(cli *c, const page_style *s)
{
    cr_status st = CR_OK;
    CR_TRY(write_page(c, s, (page){ PAGE_PROGRAM, "" }));
    for (size_t i = 0; cli_verbs[i]; i++)
        CR_TRY(write_page(c, s, (page){ PAGE_VERB, cli_verbs[i]->name }));
    for (size_t i = 0; i < cr_class_count(); i++)
        CR_TRY(write_page(c, s, (page){ PAGE_MODEL, cr_class_name(cr_class_at(i)) }));
done:
    return st;
}

static cr_status write_man(cli *c) { return write_pages(c, &man_style); }
static cr_status write_markdown(cli *c) { return write_pages(c, &markdown_style); }

static cr_status write_schema(cli *c, const cli_verb *verb)
{
    cr_status  st = CR_OK;
    char       path[1024], *text = NULL;
    size_t     size = 0;
    cri_sheet *schema = cri_sheet_new(c->cx);
    cli_schema(verb, schema);
    snprintf(path, sizeof path, "%s/credence.%s.1.schema.json", c->args[1], verb->name);
    CR_TRY(cri_sheet_to_json(c->cx, schema, &text));
    size = strlen(text) + 1;
    text[size - 1] = '\n';
    CR_TRY(make_folders(c, path));
    CR_TRY(cri_file_save(c->cx, path, text, size));
done:
    cr_free(c->cx, text, size, 1);
    cri_sheet_free(schema);
    return st;
}

static cr_status write_schemas(cli *c)
{
    cr_status st = CR_OK;
    for (size_t i = 0; cli_verbs[i] && st == CR_OK; i++)
        if (cli_verbs[i]->result) st = write_schema(c, cli_verbs[i]);
    return st;
}

static cr_status run_document(cli *c)
{
    static const struct {
        const char *what;
        cr_status (*write)(cli *c);
    } kinds[] = { { "man", write_man }, { "pages", write_markdown }, { "schema", write_schemas } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].what, c->args[0]) == 0) return kinds[i].write(c);
    cr_fail(c->cx, CR_EARG, "document: '%s' is not one of man, pages, schema", c->args[0]);
    return cr_fail_hint(c->cx, "usage: credence %s", c->verb->usage);
}

const cli_verb verb_document = {
    .name = "document",
    .usage = "document man|pages|schema DIR",
    .summary = "write man pages, pages of the manual or JSON schemas",
    .example = "credence document man share/man",
    .least = 2,
    .most = 2,
    .run = run_document,
};

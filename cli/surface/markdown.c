/* markdown.c -- pages as Markdown, for the manual. */
#include "surface.h"

#include <stdio.h>
#include <string.h>

/* Text that means itself, also inside a table. */
static void print_text(cli *c, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            out_text(c, "&lt;");
        else if (*text == '>')
            out_text(c, "&gt;");
        else if (*text == '&')
            out_text(c, "&amp;");
        else if (strchr("\\`*_[]|", *text))
            out_text(c, "\\%c", *text);
        else
            out_bytes(c, text, 1);
    }
}

/* The same as code; a bar would end the cell. */
static void print_code(cli *c, const char *text)
{
    out_text(c, "<code>");
    for (; *text; text++) {
        if (*text == '|')
            out_text(c, "&#124;");
        else if (*text == '*')
            out_text(c, "&#42;");
        else if (*text == '_')
            out_text(c, "&#95;");
        else if (*text == '\\')
            out_text(c, "&#92;");
        else if (*text == '`')
            out_text(c, "&#96;");
        else if (*text == '<')
            out_text(c, "&lt;");
        else if (*text == '>')
            out_text(c, "&gt;");
        else if (*text == '&')
            out_text(c, "&amp;");
        else
            out_bytes(c, text, 1);
    }
    out_text(c, "</code>");
}

static void print_code_words(cli *c, const char *first, const char *second)
{
    char words[512];
    snprintf(words, sizeof words, "%s %s", first, second);
    print_code(c, words);
}

/* --- pages ----------------------------------------------------------------------------------- */

static void markdown_path(page p, char *out, size_t size)
{
    static const char *const folders[] = { "", "verbs/", "models/" };
    snprintf(out, size, "%s%s.md", folders[p.kind], p.kind == PAGE_PROGRAM ? "reference" : p.name);
}

static void markdown_begin(cli *c, page p, const char *summary)
{
    out_text(c, "# %s%s\n\n",
             p.kind == PAGE_MODEL  ? ""
             : p.kind == PAGE_VERB ? "credence "
                                   : "credence",
             p.name);
    if (p.kind == PAGE_VERB) return; /* its description says it */
    out_text(c, "%c", reference_capital(summary));
    print_text(c, summary + 1);
    out_text(c, ".\n");
}

static void markdown_heading(cli *c, const char *text) { out_text(c, "\n## %s\n\n", text); }

static void markdown_paragraph(cli *c, const char *text)
{
    out_text(c, "\n");
    print_text(c, text);
    out_text(c, "\n\n");
}

static void markdown_usage(cli *c, const char *text)
{
    out_text(c, "```\ncredence %s\n```\n", text);
}
static void markdown_lines(cli *c, const char *text) { out_text(c, "\n```\n%s\n```\n\n", text); }

static void markdown_item(cli *c, const char *term, const char *text)
{
    out_text(c, "- ");
    print_code(c, term);
    out_text(c, ": ");
    print_text(c, text);
    out_text(c, "\n");
}

/* [name](path), the path from the folder of `from`. */
static void print_link(cli *c, page from, page to)
{
    char path[256];
    markdown_path(to, path, sizeof path);
    out_text(c, "[%s%s](%s%s)",
             to.kind == PAGE_MODEL  ? ""
             : to.kind == PAGE_VERB ? "credence "
                                    : "credence",
             to.name, from.kind == PAGE_PROGRAM ? "" : "../", path);
}

static void markdown_item_page(cli *c, page from, page to, const char *text)
{
    out_text(c, "- ");
    print_link(c, from, to);
    out_text(c, ": ");
    print_text(c, text);
    out_text(c, "\n");
}

static void markdown_options(cli *c, const cr_option *table)
{
    char flag[80], range[256];
    out_text(c, "\n| option | default | meaning |\n| --- | --- | --- |\n");
    for (const cr_option *o = table; o->name; o++) {
        bool off = reference_flag(o, flag), value = o->kind != CR_OPTION_flag;
        out_text(c, "| ");
        if (cli_letter(o->name)) out_text(c, "<code>-%c</code>, ", cli_letter(o->name));
        if (value)
            print_code_words(c, flag, cli_value_word(o));
        else
            print_code(c, flag);
        out_text(c, " | ");
        if (value && o->fallback[0]) print_code(c, o->fallback);
        out_text(c, " | ");
        print_text(c, off ? "do not " : "");
        print_text(c, o->help);
        if (reference_range(o, range)[0]) {
            out_text(c, "; ");
            print_text(c, range);
        }
        if (value) {
            out_text(c, "; for example ");
            print_code_words(c, flag, o->example);
        }
        out_text(c, " |\n");
    }
    out_text(c, "\n");
}

static void print_fields(cli *c, const cr_field *table, const char *inside)
{
    char type[64], path[256];
    for (const cr_field *f = table; f->name; f++) {
        bool rows = f->type == CR_FIELD_ROWS || f->type == CR_FIELD_SCORES;
        snprintf(path, sizeof path, "%s%s", inside, f->name);
        out_text(c, "| ");
        print_code(c, path);
        out_text(c, " | %s%s | ", reference_type(f, type),
                 f->marks & CR_FIELD_SOMETIMES ? ", not always" : "");
        print_text(c, f->help);
        out_text(c, " |\n");
        snprintf(path, sizeof path, "%s%s%s", inside, f->name, rows ? "[]." : ".");
        if (f->inner) print_fields(c, f->inner, path);
    }
}

static void markdown_fields(cli *c, const cr_field *table, const char *inside)
{
    out_text(c, "\n| key | value | meaning |\n| --- | --- | --- |\n");
    print_fields(c, table, inside);
    out_text(c, "\n");
}

static void markdown_see(cli *c, page from, const page *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i) out_text(c, " · ");
        print_link(c, from, to[i]);
    }
    out_text(c, "\n");
}

const page_style markdown_style = {
    .path = markdown_path,
    .begin = markdown_begin,
    .heading = markdown_heading,
    .paragraph = markdown_paragraph,
    .usage = markdown_usage,
    .lines = markdown_lines,
    .item = markdown_item,
    .item_page = markdown_item_page,
    .options = markdown_options,
    .fields = markdown_fields,
    .see = markdown_see,
};

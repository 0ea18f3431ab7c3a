/* man.c -- pages as roff with the man macros, for man(1).
 * Commands and verbs are in section 1, models in section 7. */
#include "surface.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* --- text ------------------------------------------------------------------------------------ */

/* The code point at *p, which moves over it; bytes that are not UTF-8 come as they are. */
static unsigned next_code(const char **p)
{
    const unsigned char *q = (const unsigned char *)*p;
    unsigned             n = q[0] < 0xC0 ? 0 : q[0] < 0xE0 ? 1 : q[0] < 0xF0 ? 2 : 3, code = q[0];
    if (n) code &= 0x3Fu >> n;
    for (unsigned i = 1; i <= n; i++) {
        if ((q[i] & 0xC0) != 0x80) return ++*p, q[0];
        code = code << 6 | (q[i] & 0x3Fu);
    }
    *p += 1 + n;
    return code;
}

/* Text that means itself: no requests, no escapes, dashes that can be copied. */
static void print_text(cli *c, const char *text, size_t length)
{
    static const struct {
        unsigned    code;
        const char *roff;
    } special[] = { { '\\', "\\e" },  { '-', "\\-" },   { '\'', "\\(aq" }, { '`', "\\(ga" },
                    { '^', "\\(ha" }, { '~', "\\(ti" }, { '"', "\\(dq" } };
    const char *end = text + length;
    if (length && text[0] == '.') out_text(c, "\\&");
    while (text < end) {
        unsigned    code = next_code(&text);
        const char *roff = NULL;
        for (size_t i = 0; i < sizeof special / sizeof *special; i++)
            if (special[i].code == code) roff = special[i].roff;
        if (roff)
            out_text(c, "%s", roff);
        else if (code < 0x80)
            out_text(c, "%c", (int)code);
        else
            out_text(c, "\\[u%04X]", code);
    }
}

static void print_line(cli *c, const char *text)
{
    print_text(c, text, strlen(text));
    out_text(c, "\n");
}

/* A phrase as a sentence. */
static void print_sentence(cli *c, const char *before, const char *phrase)
{
    const char *first = before[0] ? before : phrase;
    out_text(c, "%c", before[0] ? toupper((unsigned char)first[0]) : reference_capital(first));
    print_text(c, first + 1, strlen(first + 1));
    if (before[0]) print_text(c, phrase, strlen(phrase));
    out_text(c, ".\n");
}

/* --- pages ----------------------------------------------------------------------------------- */

static const char *section_of(page p) { return p.kind == PAGE_MODEL ? "7" : "1"; }

static void title_of(page p, char out[96])
{
    static const char *const stems[] = { "credence", "credence-", "credence-model-" };
    snprintf(out, 96, "%s%s", stems[p.kind], p.name);
}

static void man_path(page p, char *out, size_t size)
{
    char title[96];
    title_of(p, title);
    snprintf(out, size, "man%s/%s.%s", section_of(p), title, section_of(p));
}

static void man_begin(cli *c, page p, const char *summary)
{
    char title[96];
    title_of(p, title);
    out_text(c, ".\\\" Made from the tables of the program; do not edit.\n.TH \"");
    for (char *t = title; *t; t++) {
        char upper = (char)toupper((unsigned char)*t);
        print_text(c, &upper, 1);
    }
    out_text(c, "\" %s \"\" \"credence %s\" \"credence manual\"\n", section_of(p),
             CREDENCE_VERSION);
    out_text(c, ".nh\n.ad l\n.SH NAME\n"); /* flags are not to be broken */
    print_text(c, title, strlen(title));
    out_text(c, " \\- ");
    print_line(c, summary);
}

static void man_heading(cli *c, const char *text)
{
    out_text(c, ".SH \"");
    for (; *text; text++) out_text(c, "%c", toupper((unsigned char)*text));
    out_text(c, "\"\n");
}

static void man_paragraph(cli *c, const char *text)
{
    out_text(c, ".PP\n");
    print_line(c, text);
}

/* A word of a usage line: words of the language bold, names of values in italics. */
static void print_usage_word(cli *c, const char *word, size_t n)
{
    for (size_t i = 0, m; i < n; i += m) {
        bool brackets = strchr("[].", word[i]), upper = isupper((unsigned char)word[i]);
        for (m = 1; i + m < n; m++) {
            const char *next = strchr("[].", word[i + m]);
            if (!next != !brackets ||
                (!brackets && !next && !!isupper((unsigned char)word[i + m]) != upper &&
                 isalpha((unsigned char)word[i + m])))
                break;
        }
        out_text(c, "%s", brackets ? "\\fR" : upper ? "\\fI" : "\\fB");
        print_text(c, word + i, m);
    }
    out_text(c, "\\fR");
}

static void man_usage(cli *c, const char *text)
{
    out_text(c, "\\fBcredence\\fR");
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = strcspn(text, " ");
        out_text(c, " ");
        print_usage_word(c, text, n);
    }
    out_text(c, "\n");
}

static void man_lines(cli *c, const char *text)
{
    out_text(c, ".PP\n.RS 4\n.nf\n");
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        if (n) print_text(c, text, n);
        out_text(c, "\n");
    }
    out_text(c, ".fi\n.RE\n");
}

static void man_item(cli *c, const char *term, const char *text)
{
    out_text(c, ".TP 8\n\\fB");
    print_text(c, term, strlen(term));
    out_text(c, "\\fR\n");
    print_sentence(c, "", text);
}

static void man_item_page(cli *c, page from, page to, const char *text)
{
    char title[96];
    (void)from;
    title_of(to, title);
    out_text(c, ".TP\n\\fB");
    print_text(c, title, strlen(title));
    out_text(c, "\\fR(%s)\n", section_of(to));
    print_sentence(c, "", text);
}

static void man_options(cli *c, const cr_option *table)
{
    char flag[80], range[256];
    for (const cr_option *o = table; o->name; o++) {
        bool off = reference_flag(o, flag);
        out_text(c, ".TP\n");
        if (cli_letter(o->name)) out_text(c, "\\fB\\-%c\\fR, ", cli_letter(o->name));
        out_text(c, "\\fB");
        print_text(c, flag, strlen(flag));
        out_text(c, "\\fR");
        if (o->kind != CR_OPTION_flag) out_text(c, " \\fI%s\\fR", cli_value_word(o));
        out_text(c, "\n");
        print_sentence(c, off ? "do not " : "", o->help);
        if (o->kind == CR_OPTION_flag) continue;
        if (reference_range(o, range)[0]) print_sentence(c, "", range);
        if (o->fallback[0]) print_sentence(c, "default: ", o->fallback);
        out_text(c, "Example: \\fB");
        print_text(c, flag, strlen(flag));
        out_text(c, "\\ ");
        print_text(c, o->example, strlen(o->example));
        out_text(c, "\\fR\n");
    }
}

static void man_fields(cli *c, const cr_field *table, const char *inside)
{
    char type[64];
    for (const cr_field *f = table; f->name; f++) {
        out_text(c, ".TP\n\\fB");
        print_text(c, f->name, strlen(f->name));
        out_text(c, "\\fR (%s%s)\n", reference_type(f, type),
                 f->marks & CR_FIELD_SOMETIMES ? "; not always" : "");
        print_sentence(c, "", f->help);
        if (!f->inner) continue;
        out_text(c, ".RS\n");
        man_fields(c, f->inner, inside);
        out_text(c, ".RE\n");
    }
}

static void man_see(cli *c, page from, const page *to, size_t n)
{
    char title[96];
    (void)from;
    for (size_t i = 0; i < n; i++) {
        title_of(to[i], title);
        out_text(c, "\\fB");
        print_text(c, title, strlen(title));
        out_text(c, "\\fR(%s)%s\n", section_of(to[i]), i + 1 < n ? "," : "");
    }
}

const page_style man_style = {
    .path = man_path,
    .begin = man_begin,
    .heading = man_heading,
    .paragraph = man_paragraph,
    .usage = man_usage,
    .lines = man_lines,
    .item = man_item,
    .item_page = man_item_page,
    .options = man_options,
    .fields = man_fields,
    .see = man_see,
};

/* surface.h -- what is made of the tables beside flags and help: completions, man pages, pages of
 * the manual, JSON schemas.  Pages are told once (reference.c) and set in two ways (man.c,
 * markdown.c). */
#ifndef CREDENCE_CLI_SURFACE_SURFACE_H
#define CREDENCE_CLI_SURFACE_SURFACE_H

#include "../cli.h"

/* --- schema.c -------------------------------------------------------------------------------- */

/* The schema of a verb's JSON, from verb->result, which is not NULL. */
void cli_schema(const cli_verb *verb, cri_sheet *out);

/* --- reference.c ----------------------------------------------------------------------------- */

typedef enum page_kind { PAGE_PROGRAM, PAGE_VERB, PAGE_MODEL } page_kind;

typedef struct page {
    page_kind   kind;
    const char *name; /* of the verb or model; "" for the program */
} page;

/* How the parts of a page are set; all write through out_text.  Texts are plain, of one line. */
typedef struct page_style {
    void (*path)(page p, char *out, size_t size); /* from the top of the pages */
    void (*begin)(cli *c, page p, const char *summary);
    void (*heading)(cli *c, const char *text);
    void (*paragraph)(cli *c, const char *text);
    void (*usage)(cli *c, const char *text);
    void (*lines)(cli *c, const char *text); /* several lines, as they are */
    void (*item)(cli *c, const char *term, const char *text);
    void (*item_page)(cli *c, page from, page to, const char *text);
    void (*options)(cli *c, const cr_option *table);
    void (*fields)(cli *c, const cr_field *table, const char *inside);
    void (*see)(cli *c, page from, const page *to, size_t n);
} page_style;

extern const page_style man_style, markdown_style;

/* One page through the sink, which is open. */
void reference_page(cli *c, const page_style *s, page p);

/* The words for an option, for styles: "--no-intercept", and whether its meaning is turned around;
 * "at least 0", "one of a, b, c", or "" for any value. */
bool        reference_flag(const cr_option *o, char out[80]);
const char *reference_range(const cr_option *o, char out[256]);
/* The first letter of a phrase that is to begin a sentence; "qr: every digit" stays as it is. */
char reference_capital(const char *phrase);
/* "text", "number or null", "array of objects", ... */
const char *reference_type(const cr_field *f, char out[64]);

/* What an update of this model is, as a sentence without its end. */
const char *reference_update(const cr_model_class *m);

#endif

/* wellformed.h -- a small judge of XML for the tests of figures: tags balance, attributes are
 * quoted, all is escaped, the bytes are UTF-8, and no tag holds a number that is not finite. */
#ifndef CREDENCE_TEST_WELLFORMED_H
#define CREDENCE_TEST_WELLFORMED_H

#include "support.h"

#include <ctype.h>

static inline size_t count_text(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p += strlen(what)) n++;
    return n;
}

/* After '<': the end of the tag, having checked its attributes; NULL if something is wrong. */
static inline const char *skip_attributes(const char *p)
{
    while (*p && *p != '>' && *p != '/') {
        if (*p++ != ' ') return NULL;
        while (isalpha((unsigned char)*p) || *p == '-') p++;
        if (*p++ != '=') return NULL;
        char quote = *p++;
        if (quote != '\'' && quote != '"') return NULL;
        const char *value = p;
        while (*p && *p != quote && *p != '<') p++;
        if (*p != quote) return NULL;
        for (const char *v = value; v + 3 <= p; v++)
            if (strncmp(v, "nan", 3) == 0 || strncmp(v, "inf", 3) == 0) return NULL;
        p++;
    }
    return *p ? p : NULL;
}

static inline bool is_entity(const char *p)
{
    static const char *const known[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
    for (size_t i = 0; i < 5; i++)
        if (strncmp(p, known[i], strlen(known[i])) == 0) return true;
    return false;
}

static inline bool is_utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        int more = *p < 0x80                 ? 0
                   : *p >= 0xc2 && *p < 0xe0 ? 1
                   : *p < 0xf0 && *p >= 0xe0 ? 2
                   : *p >= 0xf0 && *p < 0xf5 ? 3
                                             : -1;
        if (more < 0 || (*p < 0x20 && *p != '\n') || *p == 0x7f) return false;
        for (p++; more > 0; more--)
            if ((*p++ & 0xc0) != 0x80) return false;
    }
    return true;
}

/* NULL when the document is well-formed, else where it is not. */
static inline const char *find_xml_error(const char *text)
{
    char   stack[64][32];
    size_t depth = 0;
    if (!is_utf8(text)) return "not UTF-8";
    for (const char *p = text; *p;) {
        if (*p == '&' && !is_entity(p)) return p;
        if (*p == '>' || (depth == 0 && *p != '<' && *p != '\n')) return p;
        if (*p != '<') {
            p++;
            continue;
        }
        const char *tag = p;
        bool        closes = p[1] == '/';
        p += 1 + closes;
        size_t length = strcspn(p, " />\n");
        char   name[32];
        if (length == 0 || length >= sizeof name) return tag;
        snprintf(name, sizeof name, "%.*s", (int)length, p);
        p = skip_attributes(p + length);
        if (!p) return tag;
        bool empty = *p == '/';
        p += empty;
        if (*p++ != '>') return tag;
        if (closes && (depth == 0 || strcmp(stack[--depth], name) != 0)) return tag;
        if (!closes && !empty) {
            if (depth == 64) return tag;
            memcpy(stack[depth++], name, sizeof name);
        }
    }
    return depth == 0 ? NULL : "a tag is left open";
}

#define assert_wellformed(text)                                                                    \
    do {                                                                                           \
        const char *where = find_xml_error(text);                                                  \
        if (where) fail_msg("not well-formed: %.80s", where);                                      \
    } while (0)

/* The bytes of a file as a string; to be freed. */
static inline char *load_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(size + 1);
    assert_int_equal(fread(text, 1, size, f), size);
    text[size] = '\0';
    fclose(f);
    return text;
}

#endif

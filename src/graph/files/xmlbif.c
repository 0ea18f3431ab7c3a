/* xmlbif.c -- two passes of expat over a file: variables first, then definitions. */
#include "xmlbif.h"
#include "network_text.h"
#include "graph/network/noisy.h"
#include "base/bytes.h"
#include "base/context_internal.h"
#include "base/number.h"
#include "base/utf8.h"

#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef enum place { NOWHERE, NETWORK, VARIABLE, DEFINITION } place;

typedef struct xml_file {
    cr_ctx     *cx;
    cr_network *net;
    cri_places  places;
    XML_Parser  parser;
    cri_reader  r;           /* over the bytes, for messages */
    bool        definitions; /* the second pass */
    place       in;
    size_t      networks;       /* met so far                                                 */
    size_t      depth, deepest; /* elements open; depth at which text is gathered, 0: nowhere */
    char       *text;           /* [used] of [capacity] what an element holds                 */
    size_t      used, capacity;
    XML_Index   text_at, block_at; /* where it and the block begin */
    XML_Index   table_at;          /* where the table of the block begins */
    cri_names   states, given, properties, name;
    cri_numbers values;
    bool        has_table;
    cr_status   status;
} xml_file;

/* --- messages -------------------------------------------------------------------------------- */

static void stop(xml_file *f, cr_status st)
{
    if (f->status == CR_OK) f->status = st;
    XML_StopParser(f->parser, XML_FALSE);
}

/* Puts the reader where byte `index` stands. */
static size_t seek(xml_file *f, XML_Index index)
{
    size_t size = (size_t)(f->r.end - f->r.begin);
    size_t at = index < 0 ? 0 : (size_t)index > size ? size : (size_t)index;
    f->r.at = f->r.line_begin = f->r.begin;
    f->r.line = 1;
    for (size_t i = 0; i < at; i++)
        if (f->r.begin[i] == '\n') f->r.line++, f->r.line_begin = f->r.begin + i + 1;
    return at;
}

static void fail(xml_file *f, XML_Index index, const char *format, ...) CR_PRINTF(3, 4);
static void fail(xml_file *f, XML_Index index, const char *format, ...)
{
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (f->status != CR_OK) return;
    size_t at = seek(f, index);
    stop(f, cri_reader_fail_at(&f->r, f->r.begin + at, 1, "%s", text));
}

/* Where word k of the table that begins at table_at stands in the file, comments not counted; NULL
 * where it cannot be told. */
static const char *find_word(const xml_file *f, size_t k)
{
    const char *end = f->r.end, *at = f->r.begin + f->table_at;
    at = memchr(at, '>', (size_t)(end - at));
    for (at = at ? at + 1 : end; at < end;) {
        if (cri_is_space(*at) || *at == ',') {
            at++;
        } else if (end - at > 4 && memcmp(at, "<!--", 4) == 0) {
            at = cri_find_text(at, (size_t)(end - at), "-->");
            if (!at) return NULL;
            at += 3;
        } else if (*at == '<' || *at == '&') {
            return NULL;
        } else if (k-- == 0) {
            return at;
        } else {
            while (at < end && !cri_is_space(*at) && *at != ',' && *at != '<') at++;
        }
    }
    return NULL;
}

/* Where words [k, k + n) of the table are wrong: as many of them as are on one line. */
static void fail_words(xml_file *f, size_t k, size_t n, const char *format, ...) CR_PRINTF(4, 5);
static void fail_words(xml_file *f, size_t k, size_t n, const char *format, ...)
{
    char        text[512];
    const char *from = find_word(f, k), *end = from, *last;
    va_list     args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!from) {
        fail(f, f->table_at, "%s", text);
        return;
    }
    for (size_t i = 0; i < n && (last = find_word(f, k + i)); i++) {
        if (memchr(from, '\n', (size_t)(last - from))) break;
        for (end = last; end < f->r.end && !cri_is_space(*end) && *end != ',' && *end != '<';)
            end++;
    }
    if (f->status != CR_OK) return;
    seek(f, from - f->r.begin);
    stop(f, cri_reader_fail_at(&f->r, from, (size_t)(end - from), "%s", text));
}

/* A failure of a function called for a block gets the place of it. */
static bool check(xml_file *f, cr_status st)
{
    if (st == CR_EDATA || st == CR_EARG)
        fail(f, f->block_at, "%s", cr_error(f->cx));
    else if (st != CR_OK)
        stop(f, st);
    return st == CR_OK && f->status == CR_OK;
}

/* --- variables and definitions --------------------------------------------------------------- */

static void keep_properties(xml_file *f, size_t v)
{
    for (size_t i = 0; i < f->properties.n && f->status == CR_OK; i++)
        check(f, cr_network_add_property(f->cx, f->net, v, f->properties.name[i]));
    cri_names_clear(f->cx, &f->properties);
}

static void end_variable(xml_file *f)
{
    size_t v = 0;
    if (f->name.n != 1) {
        fail(f, f->block_at, "a VARIABLE needs one NAME");
        return;
    }
    if (check(f, cr_network_add_variable(f->cx, f->net, f->name.name[0], f->states.n,
                                         (const char *const *)f->states.name, &v)) &&
        check(f, cri_places_set(f->cx, &f->places, v, f->r.begin + f->block_at)))
        keep_properties(f, v);
}

static size_t find(xml_file *f, const char *name)
{
    size_t v = cr_variable_lookup(cr_network_variables(f->net), name);
    if (v == CR_NONE && f->status == CR_OK) {
        fail(f, f->block_at, "there is no variable '%s'", name);
        cri_nearest_variable(f->cx, f->net, name);
    }
    return v;
}

static void check_rows(xml_file *f, size_t states)
{
    for (size_t row = 0; row < f->values.n && f->status == CR_OK; row += states) {
        double sum = 0;
        for (size_t s = 0; s < states; s++) sum += f->values.value[row + s];
        if (!cri_sums_to_one(sum))
            fail_words(f, row, states, "row %zu of the table of '%s' sums to %.10g, expected 1",
                       row / states + 1, f->name.name[0], sum);
    }
}

static void end_definition(xml_file *f)
{
    size_t  n = f->given.n, v;
    size_t *parents = NULL;
    double  size;
    if (f->name.n != 1 || !f->has_table) {
        fail(f, f->block_at, "a DEFINITION needs one FOR and a TABLE");
        return;
    }
    v = find(f, f->name.name[0]);
    if (f->status != CR_OK) return;
    if (cr_network_table(f->net, v).value) {
        fail(f, f->block_at, "'%s' has a table already", f->name.name[0]);
        return;
    }
    if (!check(f, cri_places_set(f->cx, &f->places, v, f->r.begin + f->block_at))) return;
    parents = cr_alloc(f->cx, n + 1, sizeof *parents);
    if (!parents) {
        stop(f, CR_ENOMEM);
        return;
    }
    size = (double)cr_network_states(f->net, v);
    for (size_t i = 0; i < n && f->status == CR_OK; i++) {
        parents[i] = find(f, f->given.name[i]);
        if (f->status == CR_OK) size *= (double)cr_network_states(f->net, parents[i]);
    }
    if (f->status == CR_OK && check(f, cri_network_set_scope(f->cx, f->net, v, n, parents))) {
        if ((double)f->values.n != size)
            fail(f, f->table_at, "%zu probabilities where %.0f should be", f->values.n, size);
        check_rows(f, cr_network_states(f->net, v));
        if (f->status == CR_OK && check(f, cr_network_set_table(f->cx, f->net, v, f->values.value)))
            keep_properties(f, v);
    }
    cr_free(f->cx, parents, n + 1, sizeof *parents);
}

/* --- elements -------------------------------------------------------------------------------- */

static void clear_block(xml_file *f)
{
    cri_names_clear(f->cx, &f->states);
    cri_names_clear(f->cx, &f->given);
    cri_names_clear(f->cx, &f->properties);
    cri_names_clear(f->cx, &f->name);
    f->values.n = 0;
    f->has_table = false;
}

static bool is_either(const char *name, const char *a, const char *b)
{
    return strcmp(name, a) == 0 || strcmp(name, b) == 0;
}

static void XMLCALL begin_element(void *user, const XML_Char *name, const XML_Char **attributes)
{
    xml_file *f = user;
    bool      variable = strcmp(name, "VARIABLE") == 0;
    if (f->status != CR_OK) return;
    f->depth++;
    if (f->depth == 1 && strcmp(name, "BIF") != 0) {
        fail(f, XML_GetCurrentByteIndex(f->parser), "expected <BIF>, not <%.100s>", name);
    } else if (f->in == NOWHERE && strcmp(name, "NETWORK") == 0) {
        f->in = NETWORK;
        if (f->networks++ > 0)
            fail(f, XML_GetCurrentByteIndex(f->parser), "there is a second network in the file");
    } else if (f->in == NETWORK && (variable || is_either(name, "DEFINITION", "PROBABILITY"))) {
        f->in = variable ? VARIABLE : DEFINITION;
        f->block_at = XML_GetCurrentByteIndex(f->parser);
        clear_block(f);
        for (; variable && attributes[0]; attributes += 2)
            if (strcmp(attributes[0], "TYPE") == 0 &&
                is_either(attributes[1], "decision", "utility"))
                fail(f, f->block_at, "%s nodes are not supported, only nature", attributes[1]);
    } else if (f->in != NOWHERE && f->deepest == 0) {
        f->deepest = f->depth;
        f->used = 0;
        f->text_at = XML_GetCurrentByteIndex(f->parser);
    }
}

static void XMLCALL gather_text(void *user, const XML_Char *text, int length)
{
    xml_file *f = user;
    size_t    n = (size_t)length;
    if (f->status != CR_OK || f->deepest == 0) return;
    if (f->used + n + 1 > f->capacity) {
        size_t capacity = 2 * (f->used + n) + 64;
        char  *more = cr_resize(f->cx, f->text, f->capacity, capacity, 1);
        if (!more) {
            stop(f, CR_ENOMEM);
            return;
        }
        f->text = more;
        f->capacity = capacity;
    }
    memcpy(f->text + f->used, text, n);
    f->used += n;
}

static void read_table(xml_file *f, const char *at, const char *end)
{
    for (;; f->has_table = true) {
        double x = 0;
        while (at < end && (cri_is_space(*at) || *at == ',')) at++;
        if (at == end || f->status != CR_OK) return;
        size_t length = cri_parse_double(at, end, &x), word = 0;
        while (at + word < end && !cri_is_space(at[word]) && at[word] != ',') word++;
        if (length != word || length == 0)
            fail_words(f, f->values.n, 1, "'%.*s' in this table should be a number",
                       (int)(word < 40 ? word : 40), at);
        else if (!(x >= 0) || x > 1e300)
            fail_words(f, f->values.n, 1, "%g in this table should be a probability", x);
        else
            check(f, cri_numbers_add(f->cx, &f->values, x));
        at += length;
    }
}

/* What an element within a block, or within the network, holds. */
static void take_text(xml_file *f, const char *name)
{
    const char *text = f->text ? f->text : "", *end = text + f->used;
    while (text < end && cri_is_space(*text)) text++;
    while (end > text && cri_is_space(end[-1])) end--;
    size_t n = (size_t)(end - text);
    if (strcmp(name, "PROPERTY") == 0) {
        check(f, cri_names_add(f->cx, &f->properties, text, n));
        if (f->in == NETWORK && !f->definitions) keep_properties(f, CR_NONE);
        if (f->in == NETWORK) cri_names_clear(f->cx, &f->properties);
    } else if (f->in == NETWORK && strcmp(name, "NAME") == 0 && n > 0) {
        check(f, cri_names_add(f->cx, &f->name, text, n));
        if (f->status == CR_OK) check(f, cr_network_set_name(f->cx, f->net, f->name.name[0]));
        cri_names_clear(f->cx, &f->name);
    } else if (f->in != NETWORK && strcmp(name, f->in == VARIABLE ? "NAME" : "FOR") == 0) {
        check(f, cri_names_add(f->cx, &f->name, text, n));
    } else if (f->in == VARIABLE && is_either(name, "OUTCOME", "VALUE")) {
        check(f, cri_names_add(f->cx, &f->states, text, n));
    } else if (f->in == DEFINITION && strcmp(name, "GIVEN") == 0) {
        check(f, cri_names_add(f->cx, &f->given, text, n));
    } else if (f->in == DEFINITION && strcmp(name, "TABLE") == 0) {
        if (f->has_table)
            fail(f, f->text_at, "there is a table already");
        else if (f->definitions)
            f->table_at = f->text_at, read_table(f, text, end);
    }
}

static void XMLCALL end_element(void *user, const XML_Char *name)
{
    xml_file *f = user;
    if (f->status != CR_OK) return;
    if (f->deepest == f->depth) {
        f->deepest = 0;
        take_text(f, name);
    } else if (f->deepest == 0 && f->in == VARIABLE) {
        if (!f->definitions) end_variable(f);
        f->in = NETWORK;
    } else if (f->deepest == 0 && f->in == DEFINITION) {
        if (f->definitions) end_definition(f);
        f->in = NETWORK;
    } else if (f->deepest == 0 && f->in == NETWORK && strcmp(name, "NETWORK") == 0) {
        f->in = NOWHERE;
    }
    f->depth--;
}

/* Entities could grow without bounds, or name other files. */
static void XMLCALL refuse_entity(void *user, const XML_Char *name, int is_parameter,
                                  const XML_Char *value, int length, const XML_Char *base,
                                  const XML_Char *system, const XML_Char *public,
                                  const XML_Char *notation)
{
    xml_file *f = user;
    (void)is_parameter, (void)value, (void)length, (void)base;
    (void)system, (void)public, (void)notation;
    fail(f, XML_GetCurrentByteIndex(f->parser),
         "the file declares the entity '%.100s', which is refused", name);
}

/* --- the file -------------------------------------------------------------------------------- */

static cr_status run_pass(xml_file *f, bool definitions)
{
    size_t size = (size_t)(f->r.end - f->r.begin);
    f->parser = XML_ParserCreate(NULL);
    if (!f->parser) return cri_fail_memory(f->cx, 1024);
    f->definitions = definitions;
    f->in = NOWHERE;
    f->depth = f->deepest = f->networks = 0;
    clear_block(f);
    XML_SetUserData(f->parser, f);
    XML_SetElementHandler(f->parser, begin_element, end_element);
    XML_SetCharacterDataHandler(f->parser, gather_text);
    XML_SetEntityDeclHandler(f->parser, refuse_entity);
    for (size_t at = 0; f->status == CR_OK;) {
        size_t          part = size - at < (1 << 20) ? size - at : 1 << 20;
        enum XML_Status got = XML_Parse(f->parser, f->r.begin + at, (int)part, at + part == size);
        if (got != XML_STATUS_OK && XML_GetErrorCode(f->parser) == XML_ERROR_NO_MEMORY)
            stop(f, cri_fail_memory(f->cx, 1024));
        else if (got != XML_STATUS_OK)
            fail(f, XML_GetCurrentByteIndex(f->parser), "not well-formed XML: %s",
                 XML_ErrorString(XML_GetErrorCode(f->parser)));
        at += part;
        if (at == size) break;
    }
    XML_ParserFree(f->parser);
    f->parser = NULL;
    return f->status;
}

cr_status cr_xmlbif_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                          cr_network **out_net)
{
    cr_status st = CR_OK;
    xml_file  f = { .cx = cx, .r = cri_reader_open(cx, source, bytes, size) };
    CR_TRY(cr_network_new(cx, CR_NETWORK_BAYES, &f.net));
    CR_TRY(run_pass(&f, false));
    if (cr_network_size(f.net) == 0)
        CR_TRY(cri_reader_fail_at(&f.r, f.r.begin, 1, "there are no variables in the file"));
    CR_TRY(run_pass(&f, true));
    CR_TRY(cri_check_placed(&f.r, f.net, &f.places));
    *out_net = f.net;
    f.net = NULL;
done:
    cri_names_free(cx, &f.states);
    cri_names_free(cx, &f.given);
    cri_names_free(cx, &f.properties);
    cri_names_free(cx, &f.name);
    cri_numbers_free(cx, &f.values);
    cri_places_free(cx, &f.places);
    cr_free(cx, f.text, f.capacity, 1);
    cr_network_free(cx, f.net);
    return st;
}

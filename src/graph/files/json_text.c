/* json_text.c -- the tree and the text, walked side by side. */
#include "json_text.h"
#include "network_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- reading --------------------------------------------------------------------------------- */

/* Where jansson stopped, in its words. */
static cr_status fail_syntax(cri_reader *r, const json_error_t *e)
{
    size_t      at = e->position > 0 ? (size_t)e->position - 1 : 0;
    const char *stop = r->at + (at < (size_t)(r->end - r->at) ? at : (size_t)(r->end - r->at));
    bool        twice = json_error_code(e) == json_error_duplicate_key;
    const char *near = strstr(e->text, " near ");
    while (r->at < stop) cri_step(r);
    if (twice)
        return cri_reader_fail_at(r, r->at, 1, "a key occurs twice in one object%s",
                                  near ? near : "");
    return cri_reader_fail_at(r, r->at, 1, "not JSON: %s", e->text);
}

cr_status cri_json_open(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                        cri_json *out)
{
    cri_reader   r = cri_reader_open(cx, source, bytes, size);
    json_error_t e;
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) r.at += 3;
    *out = (cri_json){ .cx = cx, .source = source, .bytes = bytes, .size = size };
    json_t *root = json_loadb(r.at, (size_t)(r.end - r.at), JSON_REJECT_DUPLICATES, &e);
    if (!root) return fail_syntax(&r, &e);
    out->root = root;
    cr_status st = json_is_object(root)
                       ? CR_OK
                       : cri_json_fail(out, root, "an object, { ... }, is expected here");
    if (st != CR_OK) cri_json_close(out);
    return st;
}

void cri_json_close(cri_json *d)
{
    json_decref(d->root);
    json_decref(d->own);
    cr_free(d->cx, d->made, d->capacity, sizeof *d->made);
    d->root = d->own = NULL, d->made = NULL, d->n_made = d->capacity = 0;
}

const json_t *cri_json_origin(const cri_json *d, const json_t *value)
{
    size_t low = 0, high = d->n_made;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (d->made[middle].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->n_made && d->made[low].value == value ? d->made[low].from : value;
}

/* --- places ---------------------------------------------------------------------------------- */

typedef struct place {
    const json_t *value;
    const char   *key; /* of the object that is the value; NULL: the value itself */
} place;

/* Goes over the value at hand, which is `node`; stops at the place and says so. */
static bool walk(cri_words *w, json_t *node, const place *p)
{
    const char *key;
    json_t     *value;
    size_t      i, n;
    if (node == p->value && !p->key) return true;
    if (!json_is_object(node) && !json_is_array(node)) {
        cri_words_next(w);
        return false;
    }
    cri_words_next(w);
    n = json_is_object(node) ? json_object_size(node) : json_array_size(node);
    json_object_foreach(node, key, value)
    {
        if (node == p->value && strcmp(key, p->key) == 0) return true;
        cri_words_next(w);
        cri_words_next(w);
        if (walk(w, value, p)) return true;
        cri_words_next(w); /* the comma, or the brace at the end */
    }
    json_array_foreach(node, i, value)
    {
        if (walk(w, value, p)) return true;
        cri_words_next(w);
    }
    if (n == 0) cri_words_next(w);
    return false;
}

/* The place in the text of one in what was made of it: keys may have got the place in a plate, "x[student=1]". */
static place place_in_text(const cri_json *d, place p, char *key, size_t size)
{
    p.value = cri_json_origin(d, p.value);
    if (!p.key || json_object_get(p.value, p.key)) return p;
    snprintf(key, size, "%.*s", (int)strcspn(p.key, "["), p.key);
    p.key = key;
    return p;
}

static cr_status fail_at(const cri_json *d, place p, const char *sentence)
{
    char key[512];
    p = place_in_text(d, p, key, sizeof key);
    cri_words w = cri_words_open(d->cx, d->source, d->bytes, d->size, "{}[]:,", '/');
    cr_status st;
    if (w.r.status == CR_OK && walk(&w, d->root, &p))
        st = cri_words_fail(&w, &w.now, "%s", sentence);
    else
        st = cr_fail(d->cx, CR_EDATA, "%s: %s", d->source, sentence);
    cri_words_close(&w);
    return st;
}

cr_status cri_json_fail(const cri_json *d, const json_t *at, const char *format, ...)
{
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return fail_at(d, (place){ at, NULL }, text);
}

cr_status cri_json_fail_key(const cri_json *d, const json_t *object, const char *key,
                            const char *format, ...)
{
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return fail_at(d, (place){ object, key }, text);
}

cr_status cri_json_place(const cri_json *d, const json_t *at, cr_status st)
{
    char text[1024];
    if (st != CR_EDATA && st != CR_EARG) return st;
    snprintf(text, sizeof text, "%s", cr_error(d->cx));
    return cri_json_fail(d, at, "%s", text);
}

/* --- checked access -------------------------------------------------------------------------- */

cr_status cri_json_is_object(const cri_json *d, const json_t *value, const char *what)
{
    return json_is_object(value) ? CR_OK : cri_json_fail(d, value, "%s is expected here", what);
}

cr_status cri_json_is_array(const cri_json *d, const json_t *value, const char *what)
{
    return json_is_array(value) ? CR_OK : cri_json_fail(d, value, "%s is expected here", what);
}

cr_status cri_json_text(const cri_json *d, const json_t *value, const char *what, const char **out)
{
    if (!json_is_string(value)) return cri_json_fail(d, value, "%s is expected here", what);
    *out = json_string_value(value);
    return CR_OK;
}

cr_status cri_json_real(const cri_json *d, const json_t *value, const char *what, double *out)
{
    if (!json_is_number(value)) return cri_json_fail(d, value, "%s should be a number", what);
    *out = json_number_value(value);
    return CR_OK;
}

cr_status cri_json_real_in(const cri_json *d, const json_t *value, const char *what, double least,
                           double most, double *out)
{
    double    x = 0;
    cr_status st = cri_json_real(d, value, what, &x);
    if (st != CR_OK) return st;
    if (!(x >= least && x <= most))
        return isinf(most)
                   ? cri_json_fail(d, value, "%s should be %g or more, not %g", what, least, x)
                   : cri_json_fail(d, value, "%s should lie between %g and %g, not %g", what, least,
                                   most, x);
    *out = x;
    return CR_OK;
}

cr_status cri_json_count(const cri_json *d, const json_t *value, const char *what, size_t most,
                         size_t *out)
{
    json_int_t n = json_is_integer(value) ? json_integer_value(value) : 0;
    if (n < 1 || (uintmax_t)n > most)
        return cri_json_fail(d, value, "%s should be a whole number from 1 to %zu", what, most);
    *out = (size_t)n;
    return CR_OK;
}

cr_status cri_json_member(const cri_json *d, const json_t *object, const char *key, json_t **out)
{
    json_t *value = json_object_get(object, key);
    if (!value) return cri_json_fail(d, object, "the key \"%s\" is missing here", key);
    *out = value;
    return CR_OK;
}

static const char *name_of_key(const void *user, size_t i)
{
    const char *const *known = user;
    return known[i];
}

cr_status cri_json_keys(const cri_json *d, json_t *object, const char *const *known)
{
    const char *key;
    json_t     *value;
    size_t      n = 0;
    while (known[n]) n++;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (i < n && strcmp(known[i], key) != 0) i++;
        if (i < n) continue;
        cri_json_fail_key(d, object, key, "there is no key \"%s\" here", key);
        return cr_fail_nearest(d->cx, key, "keys", n, name_of_key, known);
    }
    return CR_OK;
}

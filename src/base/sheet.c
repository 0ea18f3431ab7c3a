/* sheet.c -- values under names, in blocks of memory that are freed together. */
#include "sheet.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 16384 }; /* bytes of a block, unless a text needs more */

typedef struct block {
    struct block *next;
    size_t        size, used; /* bytes behind the head */
} block;

typedef struct whole {
    cr_ctx   *cx;
    cr_status status;
    block    *first, *last; /* blocks; `last` is the one in use */
} whole;

struct cri_sheet {
    whole         *of;
    const char    *name;
    cri_sheet     *next, *first, *last;
    cri_sheet_kind kind;
    union {
        bool        flag;
        size_t      count; /* also: members of an object, items of a list */
        double      real;
        const char *text;
    } is;
};

/* --- memory ---------------------------------------------------------------------------------- */

static size_t rounded(size_t n) { return (n + 15) & ~(size_t)15; }

/* The next block with room for n bytes: one that was cleared, or a new one. */
static block *next_block(whole *w, size_t n)
{
    block *b = w->last ? w->last->next : w->first;
    if (b && b->size >= n) {
        b->used = 0;
        return w->last = b;
    }
    size_t size = n > BLOCK ? n : BLOCK;
    b = cr_alloc(w->cx, 1, rounded(sizeof *b) + size);
    if (!b) return NULL;
    b->size = size;
    b->used = 0;
    b->next = w->last ? w->last->next : w->first;
    if (w->last)
        w->last->next = b;
    else
        w->first = b;
    return w->last = b;
}

static void *take(whole *w, size_t n)
{
    if (w->status != CR_OK) return NULL;
    if (n > SIZE_MAX - 2 * BLOCK) {
        w->status = cr_fail(w->cx, CR_ENOMEM, "out of memory");
        return NULL;
    }
    n = rounded(n);
    block *b = w->last && w->last->size - w->last->used >= n ? w->last : next_block(w, n);
    if (!b) {
        w->status = CR_ENOMEM;
        return NULL;
    }
    void *p = (char *)b + rounded(sizeof *b) + b->used;
    b->used += n;
    return p;
}

static const char *keep(whole *w, const char *text)
{
    size_t n = strlen(text) + 1;
    char  *copy = take(w, n);
    return copy ? memcpy(copy, text, n) : NULL;
}

typedef struct root {
    cri_sheet sheet;
    whole     whole;
} root;

cri_sheet *cri_sheet_new(cr_ctx *cx)
{
    root *r = cr_alloc(cx, 1, sizeof *r);
    if (!r) return NULL;
    memset(r, 0, sizeof *r);
    r->whole.cx = cx;
    r->sheet = (cri_sheet){ .of = &r->whole, .kind = CRI_SHEET_OBJECT };
    return &r->sheet;
}

void cri_sheet_free(cri_sheet *opt_root)
{
    if (!opt_root) return;
    cr_ctx *cx = opt_root->of->cx;
    for (block *b = opt_root->of->first, *next; b; b = next) {
        next = b->next;
        cr_free(cx, b, 1, rounded(sizeof *b) + b->size);
    }
    cr_free(cx, (root *)opt_root, 1, sizeof(root));
}

void cri_sheet_clear(cri_sheet *s)
{
    s->of->last = NULL;
    s->first = s->last = NULL;
    s->is.count = 0;
}

cr_status cri_sheet_status(const cri_sheet *opt_s) { return opt_s ? opt_s->of->status : CR_ENOMEM; }

/* --- filling --------------------------------------------------------------------------------- */

static cri_sheet *add(cri_sheet *s, const char *name, cri_sheet_kind kind)
{
    cri_sheet *v = s ? take(s->of, sizeof *v) : NULL;
    if (!v) return NULL;
    *v = (cri_sheet){ .of = s->of, .kind = kind };
    if (name && !(v->name = keep(s->of, name))) return NULL;
    if (s->last)
        s->last->next = v;
    else
        s->first = v;
    s->last = v;
    s->is.count++;
    return v;
}

void cri_put_null(cri_sheet *s, const char *name) { add(s, name, CRI_SHEET_NULL); }

void cri_put_flag(cri_sheet *s, const char *name, bool value)
{
    cri_sheet *v = add(s, name, CRI_SHEET_FLAG);
    if (v) v->is.flag = value;
}

void cri_put_count(cri_sheet *s, const char *name, size_t value)
{
    cri_sheet *v = add(s, name, CRI_SHEET_COUNT);
    if (v) v->is.count = value;
}

void cri_put_real(cri_sheet *s, const char *name, double value)
{
    cri_sheet *v = add(s, name, isfinite(value) ? CRI_SHEET_REAL : CRI_SHEET_NULL);
    if (v) v->is.real = value;
}

void cri_sheet_add(cri_sheet *opt_s, double more)
{
    if (opt_s && opt_s->kind == CRI_SHEET_REAL) opt_s->is.real += more;
}

void cri_put_text(cri_sheet *s, const char *name, const char *opt_text)
{
    const char *copy = s && opt_text ? keep(s->of, opt_text) : NULL;
    cri_sheet  *v = add(s, name, opt_text ? CRI_SHEET_TEXT : CRI_SHEET_NULL);
    if (v) v->is.text = copy;
}

/* out [size] = a format of texts alone, such as %s.%s, as most names have; its length, or 0 where it has other
 * conversions or does not fit.  Of a million names printf is most of the time. */
static size_t join_texts(char *out, size_t size, const char *format, va_list args)
{
    size_t used = 0;
    for (const char *f = format; *f; f++) {
        bool        given = *f == '%';
        const char *piece = f;
        if (given && *++f != 's') return 0;
        if (given) piece = va_arg(args, const char *);
        size_t n = !given ? 1 : piece ? strlen(piece) : size;
        if (n >= size - used) return 0;
        memcpy(out + used, piece, n);
        used += n;
    }
    out[used] = '\0';
    return used;
}

void cri_put_text_list(cri_sheet *s, const char *name, const char *format, va_list args)
{
    cri_sheet *v = add(s, name, CRI_SHEET_TEXT);
    va_list    again;
    char       small[256];
    if (!v) return;
    va_copy(again, args);
    size_t joined = join_texts(small, sizeof small, format, again);
    va_end(again);
    va_copy(again, args);
    size_t n = joined > 0 ? joined + 1 : (size_t)vsnprintf(NULL, 0, format, again) + 1;
    va_end(again);
    char *text = take(s->of, n);
    v->is.text = text ? text : "";
    if (text && joined > 0)
        memcpy(text, small, n);
    else if (text)
        vsnprintf(text, n, format, args);
}

void cri_put_textf(cri_sheet *s, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cri_put_text_list(s, name, format, args);
    va_end(args);
}

void cri_put_reals(cri_sheet *s, const char *name, const double *values, size_t n)
{
    cri_sheet *list = cri_put_list(s, name);
    for (size_t i = 0; i < n; i++) cri_put_real(list, NULL, values[i]);
}

cri_sheet *cri_put_list(cri_sheet *s, const char *name) { return add(s, name, CRI_SHEET_LIST); }

cri_sheet *cri_put_object(cri_sheet *s, const char *name) { return add(s, name, CRI_SHEET_OBJECT); }

void cri_put_joined(cri_sheet *s, const char *name, const cri_sheet *list, const char *between)
{
    cri_sheet *v = add(s, name, CRI_SHEET_TEXT);
    size_t     n = 1, used = 0;
    for (const cri_sheet *i = cri_sheet_first(list); i; i = i->next)
        n += i->kind == CRI_SHEET_TEXT ? strlen(i->is.text) + strlen(between) : 0;
    char *text = v ? take(s->of, n) : NULL;
    if (!text) return;
    text[0] = '\0';
    v->is.text = text;
    for (const cri_sheet *i = cri_sheet_first(list); i; i = i->next)
        if (i->kind == CRI_SHEET_TEXT)
            used +=
                (size_t)snprintf(text + used, n - used, "%s%s", used ? between : "", i->is.text);
}

/* The depth of a sheet is that of the code that made it: a few levels. */
void cri_put_copy(cri_sheet *s, const char *name, const cri_sheet *opt_value)
{
    const cri_sheet *value = opt_value;
    cri_sheet       *part = add(s, name, cri_sheet_kind_of(value));
    if (!part || !value) return;
    if (value->kind == CRI_SHEET_TEXT)
        part->is.text = keep(s->of, value->is.text);
    else if (value->kind != CRI_SHEET_LIST && value->kind != CRI_SHEET_OBJECT)
        part->is = value->is;
    for (const cri_sheet *v = value->first; v; v = v->next) cri_put_copy(part, v->name, v);
}

/* --- reading --------------------------------------------------------------------------------- */

cri_sheet_kind cri_sheet_kind_of(const cri_sheet *opt_s)
{
    return opt_s ? opt_s->kind : CRI_SHEET_NULL;
}

cri_sheet *cri_sheet_get(const cri_sheet *opt_s, const char *name)
{
    for (cri_sheet *v = cri_sheet_first(opt_s); v; v = v->next)
        if (v->name && strcmp(v->name, name) == 0) return v;
    return NULL;
}

cri_sheet *cri_sheet_first(const cri_sheet *opt_s) { return opt_s ? opt_s->first : NULL; }

cri_sheet *cri_sheet_next(const cri_sheet *opt_s) { return opt_s ? opt_s->next : NULL; }

size_t cri_sheet_size(const cri_sheet *opt_s)
{
    bool group = opt_s && (opt_s->kind == CRI_SHEET_LIST || opt_s->kind == CRI_SHEET_OBJECT);
    return group ? opt_s->is.count : 0;
}

const char *cri_sheet_name(const cri_sheet *s) { return s->name; }

double cri_sheet_real(const cri_sheet *opt_s)
{
    if (cri_sheet_kind_of(opt_s) == CRI_SHEET_COUNT) return (double)opt_s->is.count;
    return cri_sheet_kind_of(opt_s) == CRI_SHEET_REAL ? opt_s->is.real : (double)NAN;
}

size_t cri_sheet_count(const cri_sheet *opt_s)
{
    return cri_sheet_kind_of(opt_s) == CRI_SHEET_COUNT ? opt_s->is.count : 0;
}

const char *cri_sheet_text(const cri_sheet *opt_s)
{
    return cri_sheet_kind_of(opt_s) == CRI_SHEET_TEXT ? opt_s->is.text : NULL;
}

bool cri_sheet_is_true(const cri_sheet *opt_s)
{
    return cri_sheet_kind_of(opt_s) == CRI_SHEET_FLAG && opt_s->is.flag;
}

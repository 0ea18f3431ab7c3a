/* sheet_check.c -- a sheet held against the fields that it was declared to have. */
#include "sheet.h"

#include <stdio.h>
#include <string.h>

/* rows(CLASS) stands for any name that begins with "rows(" and ends with ")". */
static bool is_named(const cr_field *f, const char *name)
{
    const char *bracket = strchr(f->name, '(');
    size_t      n = strlen(name), head = bracket ? (size_t)(bracket - f->name) + 1 : 0;
    if (!bracket) return strcmp(f->name, name) == 0;
    return strncmp(f->name, name, head) == 0 && n > head && name[n - 1] == ')';
}

static const cr_field *find_field(const cr_field *fields, const char *name)
{
    for (const cr_field *f = fields; f->name; f++)
        if (is_named(f, name)) return f;
    return NULL;
}

static bool is_number(cri_sheet_kind k)
{
    return k == CRI_SHEET_COUNT || k == CRI_SHEET_REAL || k == CRI_SHEET_NULL;
}

static bool is_plain(cri_sheet_kind k) { return is_number(k) || k == CRI_SHEET_TEXT; }

static bool is_text(cri_sheet_kind k) { return k == CRI_SHEET_TEXT; }

/* true when every part of a group is of the kinds. */
static bool holds(const cri_sheet *v, cri_sheet_kind group, bool (*kinds)(cri_sheet_kind))
{
    if (cri_sheet_kind_of(v) != group) return false;
    for (const cri_sheet *part = cri_sheet_first(v); part; part = cri_sheet_next(part))
        if (!kinds(cri_sheet_kind_of(part))) return false;
    return true;
}

static bool is_matrix(const cri_sheet *v)
{
    if (cri_sheet_kind_of(v) != CRI_SHEET_LIST) return false;
    for (const cri_sheet *row = cri_sheet_first(v); row; row = cri_sheet_next(row))
        if (!holds(row, CRI_SHEET_LIST, is_number)) return false;
    return true;
}

static bool has_kind(const cri_sheet *v, const cr_field *f)
{
    cri_sheet_kind k = cri_sheet_kind_of(v);
    if (k == CRI_SHEET_NULL && f->marks & CR_FIELD_NULL) return true;
    switch (f->type) {
    case CR_FIELD_TEXT:
        return k == CRI_SHEET_TEXT;
    case CR_FIELD_COUNT:
        return k == CRI_SHEET_COUNT;
    case CR_FIELD_NUMBER:
        return k == CRI_SHEET_REAL || k == CRI_SHEET_COUNT;
    case CR_FIELD_FLAG:
        return k == CRI_SHEET_FLAG;
    case CR_FIELD_TEXTS:
        return holds(v, CRI_SHEET_LIST, is_text);
    case CR_FIELD_OBJECT:
        return k == CRI_SHEET_OBJECT;
    case CR_FIELD_ROWS:
    case CR_FIELD_SCORES:
        return k == CRI_SHEET_LIST;
    case CR_FIELD_NUMBERS:
        return holds(v, CRI_SHEET_OBJECT, is_number);
    case CR_FIELD_WORDS:
        return holds(v, CRI_SHEET_OBJECT, is_text);
    case CR_FIELD_VALUES:
        return holds(v, CRI_SHEET_OBJECT, is_plain);
    case CR_FIELD_ARRAY:
        return holds(v, CRI_SHEET_LIST, is_number);
    case CR_FIELD_ENTRIES:
        return is_number(k) || holds(v, CRI_SHEET_LIST, is_number);
    case CR_FIELD_PLACES:
        return holds(v, CRI_SHEET_LIST, is_plain);
    case CR_FIELD_MATRIX:
        return is_matrix(v);
    case CR_FIELD_STATISTICS:
        return k == CRI_SHEET_OBJECT;
    case CR_FIELD_ANY:
        return true;
    case CR_FIELD_END:
        break;
    }
    return false;
}

static bool find_fault(const cri_sheet *object, const cr_field *fields, bool open, char *out,
                       size_t size);

static bool fault_of_parts(const cri_sheet *v, const cr_field *f, char *out, size_t size)
{
    if (f->type == CR_FIELD_OBJECT) return find_fault(v, f->inner, false, out, size);
    if (f->type != CR_FIELD_ROWS && f->type != CR_FIELD_SCORES) return false;
    for (const cri_sheet *row = cri_sheet_first(v); row; row = cri_sheet_next(row))
        if (find_fault(row, f->inner, f->type == CR_FIELD_SCORES, out, size)) return true;
    return false;
}

/* `open`: names that are not declared may stand for numbers. */
static bool find_fault(const cri_sheet *object, const cr_field *fields, bool open, char *out,
                       size_t size)
{
    for (const cri_sheet *v = cri_sheet_first(object); v; v = cri_sheet_next(v)) {
        const char     *name = cri_sheet_name(v);
        const cr_field *f = find_field(fields, name);
        if (!f && open && is_number(cri_sheet_kind_of(v))) continue;
        if (!f) return snprintf(out, size, "%s is not declared", name), true;
        if (!has_kind(v, f) && cri_sheet_kind_of(v) == CRI_SHEET_NULL)
            return snprintf(out, size, "%s is null and not declared so", name), true;
        if (!has_kind(v, f)) return snprintf(out, size, "%s is of another kind", name), true;
        if (cri_sheet_kind_of(v) != CRI_SHEET_NULL && fault_of_parts(v, f, out, size)) return true;
    }
    for (const cr_field *f = fields; f->name; f++)
        if (!(f->marks & CR_FIELD_SOMETIMES) && !cri_sheet_get(object, f->name))
            return snprintf(out, size, "%s is missing", f->name), true;
    return false;
}

bool cri_sheet_find_fault(const cri_sheet *object, const cr_field *fields, char *out, size_t size)
{
    return find_fault(object, fields, false, out, size);
}

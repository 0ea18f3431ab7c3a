/* quoted.c -- names in quotes, with commas between. */
#include "quoted.h"

#include <stdio.h>
#include <string.h>

static const char more[] = ", ...";

void cri_quoted_add(cri_quoted *list, const char *name)
{
    size_t space = sizeof list->text - sizeof more - list->used;
    list->n++;
    if (list->named == list->most || strlen(name) + strlen(", ''") > space) return;
    int length =
        snprintf(list->text + list->used, space + 1, "%s'%s'", list->named ? ", " : "", name);
    list->used += length > 0 ? (size_t)length : 0;
    list->named++;
}

const char *cri_quoted_text(cri_quoted *list)
{
    if (list->named < list->n)
        snprintf(list->text + list->used, sizeof list->text - list->used, "%s",
                 list->named ? more : more + 2);
    return list->text;
}

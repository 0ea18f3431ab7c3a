/* list.h -- several texts in one, as options hold them.
 *
 *     a,b c,"k,1",!"x,y","say ""hi"""      a · b c · k,1 · !x,y · say "hi"
 *
 * Commas stand between the items.  An item in double quotes may hold commas; in it a quote is
 * written twice.  The quotes enclose the whole item, except for a '!' before them; anywhere else a
 * quote is a character like others, and so are spaces.  Empty items do not count.  (Internal
 * header.) */
#ifndef CREDENCE_BASE_LIST_H
#define CREDENCE_BASE_LIST_H

#include "scratch.h"

/* The next item, as it is meant, into out, which has room for the rest of the list with its '\0';
 * *at moves on behind it.  false at the end.  Of a faulty list, makes what it can. */
bool cri_list_next(const char **at, char *out);

/* All items, in the arena; none of a list that is NULL.  The status is the arena's. */
cr_status cri_list_split(cr_scratch *s, const char *opt_list, char ***out_items, size_t *out_n);

/* The items of a list of NAME=VALUE, whose values may be lists: an item without '=' goes on with
 * the value before it (features=a,b), and so does all that stands in brackets
 * (kernel=rbf(x,l=3)). */
cr_status cri_list_settings(cr_scratch *s, const char *opt_list, char ***out_items, size_t *out_n);

/* What is wrong with a list, for people; NULL when nothing is. */
const char *cri_list_fault(const char *list);

/* Writes a text as an item of a list, with quotes if it needs them.  Returns the length it needs,
 * like snprintf. */
size_t cri_list_quote(const char *text, char *out, size_t size);

/* Where the item that `at` begins ends: at its comma or at the end of the list. */
const char *cri_list_item_end(const char *at);

#endif

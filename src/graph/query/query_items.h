/* query_items.h -- the words of a question: names, states, what is known.  (Internal header.) */
#ifndef CREDENCE_GRAPH_QUERY_QUERY_ITEMS_H
#define CREDENCE_GRAPH_QUERY_QUERY_ITEMS_H

#include "query.h"

/* A question that is being read. */
typedef struct cri_asking {
    cr_ctx           *cx;
    const cr_network *net;
    const char       *text, *at, *from; /* from: where the last name or state begins */
    char             *name;             /* [length of the text + 1] */
    cr_question      *q;
    bool              values; /* variables have values, not states: x=1.2 */
    bool              times;  /* they are in slices: x[t=3]; `net` is one slice */
    size_t next, last;        /* of x[t=1..5]: the numbers from next to last are still to come */
    char   said[300];         /* the name of such a variable */
} cri_asking;

/* Fails with a sentence, the question, and a caret under [from, end). */
cr_status cri_ask_fail(cri_asking *p, const char *from, const char *end, const char *format, ...)
    CR_PRINTF(4, 5);

/* Goes over white space. */
void cri_ask_skip(cri_asking *p);
/* Takes this if it is next. */
bool cri_ask_take(cri_asking *p, const char *mark);
/* Takes it, or fails: "expected ';' after ...". */
cr_status cri_ask_expect(cri_asking *p, const char *mark, const char *where);
/* Takes a name with its parenthesis. */
bool cri_ask_function(cri_asking *p, const char *name);
/* The length of the sign of separation that is at this place, _|_ or another; 0: none. */
size_t cri_ask_bar(const char *at);

/* The name of a variable; with the nearest if there is none of that name. */
cr_status cri_ask_variable(cri_asking *p, size_t *out_v);
/* The next variable of a range x[t=1..5] that has been read; false: there is none. */
bool cri_ask_next(cri_asking *p, size_t *out_v);
/* What messages call a variable, until the next call. */
const char *cri_ask_name(cri_asking *p, size_t v);
/* Adds a variable, which began at `from`, to a list, and all of its range; fails if one is there. */
cr_status cri_ask_add(cri_asking *p, const char *from, size_t **list, size_t *n, size_t v);
/* A variable, or what is known of one, or of all of a range; *out_v: the variable alone, else CR_NONE. */
cr_status cri_ask_item(cri_asking *p, cr_findings *list, size_t *out_v);
/* What stands behind the bar.  Variables alone go to `given` where that means something. */
cr_status cri_ask_known(cri_asking *p, bool averages);

#endif

/* registry.c -- kernels by name. */
#include "kernel_internal.h"

#include <string.h>

#define ADDRESS(stem) &cri_kernel_##stem,
static const cr_kernel_class *const classes[] = { CRI_KERNELS(ADDRESS) };

size_t                 cr_kernel_count(void) { return sizeof classes / sizeof *classes; }
const cr_kernel_class *cr_kernel_at(size_t i) { return i < cr_kernel_count() ? classes[i] : NULL; }

/* true when the word of this length is one of the words in the list, with blanks between. */
static bool is_among(const char *list, const char *name, size_t length)
{
    for (const char *word = list; *word; word += strspn(word, " ")) {
        size_t n = strcspn(word, " ");
        if (n == length && strncmp(word, name, n) == 0) return true;
        word += n;
    }
    return false;
}

const cr_kernel_class *cri_kernel_lookup(const char *name, size_t length)
{
    for (size_t i = 0; i < cr_kernel_count(); i++)
        if (is_among(classes[i]->name, name, length) ||
            is_among(cr_kernel_aliases(classes[i]), name, length))
            return classes[i];
    return NULL;
}

enum { MOST_WORDS = 96, WORD = 40 };

/* Names, aliases and hooks. */
typedef struct words {
    size_t n;
    char   text[MOST_WORDS][WORD];
} words;

static void add_words(words *w, const char *list)
{
    while (*list && w->n < MOST_WORDS) {
        size_t n = strcspn(list, " ");
        if (n > 0 && n < WORD) {
            memcpy(w->text[w->n], list, n);
            w->text[w->n++][n] = '\0';
        }
        list += n + (list[n] == ' ');
    }
}

static const char *word_at(const void *user, size_t i) { return ((const words *)user)->text[i]; }

cr_status cri_kernel_fail_nearest(cr_ctx *cx, const char *name, const cr_kernel *opt_k)
{
    words w = { 0 };
    for (size_t i = 0; i < cr_kernel_count(); i++) {
        add_words(&w, classes[i]->name);
        add_words(&w, cr_kernel_aliases(classes[i]));
    }
    for (size_t h = 0; opt_k && h < opt_k->n_hooks; h++) add_words(&w, opt_k->hooks[h].name);
    return cr_fail_nearest(cx, name, "kernels", w.n, word_at, &w);
}

const cr_kernel_class *cr_kernel_find(cr_ctx *cx, const char *name)
{
    const cr_kernel_class *found = cri_kernel_lookup(name, strlen(name));
    if (found) return found;
    cr_fail(cx, CR_EARG, "there is no kernel '%s'", name);
    cri_kernel_fail_nearest(cx, name, NULL);
    return NULL;
}

const char *cr_kernel_name(const cr_kernel_class *c) { return c->name; }
const char *cr_kernel_aliases(const cr_kernel_class *c) { return c->aliases ? c->aliases : ""; }
const char *cr_kernel_summary(const cr_kernel_class *c) { return c->summary; }
const char *cr_kernel_formula(const cr_kernel_class *c) { return c->formula; }
const char *cr_kernel_reference(const cr_kernel_class *c) { return c->reference; }
const char *cr_kernel_example(const cr_kernel_class *c) { return c->example; }

const char *cr_kernel_acts_on(const cr_kernel_class *c)
{
    static const char *const names[] = { "numbers", "categories", "texts" };
    if (c->wraps) return "a kernel";
    return c->kind == CRI_NONE ? "nothing" : names[c->kind];
}

size_t cri_spec_count(const cr_kernel_class *c)
{
    size_t n = 0;
    while (c->specs[n].shown.name) n++;
    return n;
}

size_t cri_spec_of_role(const cr_kernel_class *c, cri_role role)
{
    for (size_t s = 0; c->specs[s].shown.name; s++)
        if (c->specs[s].role == role) return s;
    return SIZE_MAX;
}

const cr_kernel_spec *cr_kernel_spec_at(const cr_kernel_class *c, size_t i)
{
    return i < cri_spec_count(c) ? &c->specs[i].shown : NULL;
}

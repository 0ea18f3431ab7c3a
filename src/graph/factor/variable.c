/* variable.c -- names to numbers, twice: variables, and the states of each. */
#include "variable.h"
#include "base/context_internal.h"
#include "data/table/dictionary.h"

#include <stdio.h>
#include <string.h>

struct cr_variables {
    cri_dictionary  names;
    cri_dictionary *states; /* [names.n] used of [capacity] */
    size_t          capacity;
};

cr_status cr_variables_new(cr_ctx *cx, cr_variables **out_set)
{
    cr_variables *set = cr_alloc(cx, 1, sizeof *set);
    if (!set) return CR_ENOMEM;
    *out_set = set;
    return CR_OK;
}

void cr_variables_free(cr_ctx *cx, cr_variables *set)
{
    if (!set) return;
    for (size_t v = 0; v < set->names.n; v++) cri_dictionary_free(cx, &set->states[v]);
    cr_free(cx, set->states, set->capacity, sizeof *set->states);
    cri_dictionary_free(cx, &set->names);
    cr_free(cx, set, 1, sizeof *set);
}

size_t cr_variables_count(const cr_variables *set) { return set->names.n; }

const char *cr_variable_name(const cr_variables *set, size_t v) { return set->names.texts[v]; }

size_t cr_variable_states(const cr_variables *set, size_t v) { return set->states[v].n; }

const char *cr_state_name(const cr_variables *set, size_t v, size_t s)
{
    return set->states[v].texts[s];
}

static size_t lookup(const cri_dictionary *d, const char *name)
{
    uint32_t code;
    return cri_dictionary_find(d, name, strlen(name), &code) ? code : CR_NONE;
}

size_t cr_variable_lookup(const cr_variables *set, const char *name)
{
    return lookup(&set->names, name);
}

size_t cr_state_lookup(const cr_variables *set, size_t v, const char *name)
{
    return lookup(&set->states[v], name);
}

static const char *text_at(const void *dictionary, size_t i)
{
    return ((const cri_dictionary *)dictionary)->texts[i];
}

cr_status cr_variable_find(cr_ctx *cx, const cr_variables *set, const char *name, size_t *out_v)
{
    size_t v = cr_variable_lookup(set, name);
    if (v == CR_NONE) {
        cr_fail(cx, CR_EARG, "there is no variable '%s'", name);
        return cr_fail_nearest(cx, name, "variables", set->names.n, text_at, &set->names);
    }
    *out_v = v;
    return CR_OK;
}

cr_status cr_state_find(cr_ctx *cx, const cr_variables *set, size_t v, const char *name,
                        size_t *out_s)
{
    size_t s = cr_state_lookup(set, v, name);
    if (s == CR_NONE) {
        cr_fail(cx, CR_EARG, "variable '%s' has no state '%s'", cr_variable_name(set, v), name);
        return cr_fail_nearest(cx, name, "states", set->states[v].n, text_at, &set->states[v]);
    }
    *out_s = s;
    return CR_OK;
}

/* --- adding ---------------------------------------------------------------------------------- */

static cr_status add_states(cr_ctx *cx, cri_dictionary *d, const char *variable, size_t n,
                            const char *const *opt_names)
{
    char number[24];
    for (size_t s = 0; s < n; s++) {
        uint32_t    code;
        const char *name = number;
        if (opt_names)
            name = opt_names[s];
        else
            snprintf(number, sizeof number, "%zu", s);
        if (!name[0])
            return cr_fail(cx, CR_EDATA, "variable '%s': state %zu has no name", variable, s + 1);
        cr_status st = cri_dictionary_code(cx, d, name, strlen(name), &code);
        if (st != CR_OK) return st;
        if (code != s)
            return cr_fail(cx, CR_EDATA, "variable '%s' has two states '%s'", variable, name);
    }
    return CR_OK;
}

static cr_status reserve(cr_ctx *cx, cr_variables *set)
{
    return cri_array_grow(cx, &set->states, set->names.n, &set->capacity, sizeof *set->states);
}

cr_status cr_variables_add(cr_ctx *cx, cr_variables *set, const char *name, size_t states,
                           const char *const *opt_state_names, size_t *opt_index)
{
    cr_status      st = CR_OK;
    cri_dictionary d = { 0 };
    uint32_t       code = 0;
    if (!name[0]) CR_TRY(cr_fail(cx, CR_EDATA, "a variable has no name"));
    if (states == 0) CR_TRY(cr_fail(cx, CR_EDATA, "variable '%s' has no states", name));
    if (cr_variable_lookup(set, name) != CR_NONE)
        CR_TRY(cr_fail(cx, CR_EDATA, "there are two variables '%s'", name));
    CR_TRY(reserve(cx, set));
    CR_TRY(add_states(cx, &d, name, states, opt_state_names));
    CR_TRY(cri_dictionary_code(cx, &set->names, name, strlen(name), &code));
    set->states[code] = d;
    d = (cri_dictionary){ 0 };
    if (opt_index) *opt_index = code;
done:
    cri_dictionary_free(cx, &d);
    return st;
}

/* json_plates.c -- repeated variables written out: the tree gets them in place of what stands for them. */
#include "json_plates.h"
#include "base/context_internal.h"
#include "base/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLATES = 8, MOST_NAME = 512 };

typedef struct plate {
    const char *name;
    size_t      size;
    json_t     *places; /* their names, or NULL: 1, 2, ... */
} plate;

/* One variable being written out. */
typedef struct copy {
    cri_json    *d;
    json_t      *variables; /* those of the text */
    const plate *plates;
    size_t       n_plates;
    const char  *name;               /* of the variable in the text */
    size_t       n, in[MOST_PLATES]; /* the plates it is in, */
    size_t       at[MOST_PLATES];    /* and where in each, from 0 */
} copy;

/* --- names ----------------------------------------------------------------------------------- */

bool cri_json_is_repeated(const char *name)
{
    size_t      n = strcspn(name, "[]");
    const char *at = name + n;
    if (n == 0 || *at != '[') return false;
    do {
        size_t word = strcspn(++at, "[]=,\""), place;
        if (word == 0 || at[word] != '=' || (word == 1 && *at == 't')) return false;
        at += word + 1;
        place = strcspn(at, "[]=,\"");
        if (place == 0) return false;
        at += place;
    } while (*at == ',');
    return at[0] == ']' && at[1] == '\0';
}

static cr_status check_word(const cri_json *d, const json_t *at, const char *opt_key,
                            const char *word)
{
    bool wrong = !*word || strpbrk(word, "[]=,\""), time = opt_key && strcmp(word, "t") == 0;
    if (!wrong && !time) return CR_OK;
    const char *why =
        time ? "t stands for time: a plate needs another name"
             : "names in plates are not empty, and have none of [ ] = , and \" in them";
    return opt_key ? cri_json_fail_key(d, at, opt_key, "%s", why) : cri_json_fail(d, at, "%s", why);
}

/* Adds the place in a plate to the name of a variable: [student=1,course=logic]. */
static void put_place(const copy *c, size_t k, bool first, char *out, size_t *used)
{
    const plate *p = &c->plates[c->in[k]];
    char         number[32];
    snprintf(number, sizeof number, "%zu", c->at[k] + 1);
    const char *place = p->places ? json_string_value(json_array_get(p->places, c->at[k])) : number;
    if (*used < MOST_NAME)
        *used += (size_t)snprintf(out + *used, MOST_NAME - *used, "%s%s=%s", first ? "[" : ",",
                                  p->name, place);
}

static cr_status fail_length(const copy *c, const json_t *at)
{
    return cri_json_fail(c->d, at, "names with their places in plates have up to %d bytes",
                         MOST_NAME - 1);
}

/* --- plates ---------------------------------------------------------------------------------- */

static cr_status read_plates(cri_json *d, json_t *object, cr_scratch *s, plate **out, size_t *out_n)
{
    cr_status   st = CR_OK;
    const char *name, *word;
    json_t     *one, *place;
    size_t      n = 0, i, k;
    CR_TRY(cri_json_is_object(d, object, "an object from plates to how often they repeat"));
    plate *list = cr_scratch_bytes(s, json_object_size(object), sizeof *list);
    CR_TRY(s->status);
    json_object_foreach(object, name, one)
    {
        CR_TRY(check_word(d, object, name, name));
        list[n] = (plate){ .name = name };
        if (json_is_array(one)) {
            list[n].places = one;
            list[n].size = json_array_size(one);
            if (list[n].size == 0) CR_TRY(cri_json_fail(d, one, "there is no place in this plate"));
            json_array_foreach(one, i, place)
            {
                CR_TRY(cri_json_text(d, place, "the name of a place", &word));
                CR_TRY(check_word(d, place, NULL, word));
                for (k = 0; k < i; k++)
                    if (json_equal(json_array_get(one, k), place))
                        CR_TRY(cri_json_fail(d, place, "'%s' occurs here twice", word));
            }
        } else {
            CR_TRY(cri_json_count(d, one, "how often a plate repeats", CRI_MOST_REPEATED,
                                  &list[n].size));
        }
        n++;
    }
    *out = list, *out_n = n;
done:
    return st;
}

static cr_status find_plate(copy *c, const json_t *item)
{
    const char *word;
    cr_status   st = cri_json_text(c->d, item, "the name of a plate, or a list of such", &word);
    if (st != CR_OK) return st;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->plates[c->in[i]].name, word) == 0)
            return cri_json_fail(c->d, item, "'%s' occurs here twice", word);
    if (c->n == MOST_PLATES)
        return cri_json_fail(c->d, item, "a variable is in %d plates at the most", MOST_PLATES);
    for (size_t i = 0; i < c->n_plates; i++)
        if (strcmp(c->plates[i].name, word) == 0) return c->in[c->n++] = i, CR_OK;
    cri_json_fail(c->d, item, "there is no plate '%s'", word);
    return cr_fail_hint(c->d->cx, "\"plates\": {\"%s\": 3} says how often it repeats", word);
}

/* The plates of a variable: none, one, or a list. */
static cr_status find_plates(copy *c, json_t *definition)
{
    cr_status st = CR_OK;
    json_t   *value = json_object_get(definition, "plate"), *item;
    size_t    i;
    c->n = 0;
    if (json_is_array(value)) {
        json_array_foreach(value, i, item) CR_TRY(find_plate(c, item));
    } else if (value) {
        CR_TRY(find_plate(c, value));
    }
done:
    return st;
}

/* --- writing out ----------------------------------------------------------------------------- */

/* Notes what a new value was made from; takes it over where that fails. */
static cr_status note(copy *c, json_t *made, const json_t *from)
{
    cri_json *d = c->d;
    cr_status st = made ? cri_array_grow(d->cx, &d->made, d->n_made, &d->capacity, sizeof *d->made)
                        : cri_fail_memory(d->cx, 0);
    if (st != CR_OK) {
        json_decref(made);
        return st;
    }
    d->made[d->n_made++] = (cri_json_made){ made, from };
    return CR_OK;
}

/* The name, in the tree, of what `name` means to this copy: another variable, in this slice or, "x[-1]", the one
 * before. */
static cr_status rename_one(const copy *c, const json_t *at, const char *opt_key, const char *name,
                            char *out)
{
    cr_status st = CR_OK;
    copy      other = { .d = c->d, .plates = c->plates, .n_plates = c->n_plates };
    size_t    base = strcspn(name, "["), used = 0;
    char      key[MOST_NAME];
    if (strlen(name) >= MOST_NAME) return fail_length(c, at);
    snprintf(out, MOST_NAME, "%s", name);
    snprintf(key, sizeof key, "%.*s", (int)base, name);
    json_t *definition = json_object_get(c->variables, key);
    if (!json_is_object(definition) || (name[base] && strcmp(name + base, "[-1]") != 0)) goto done;
    CR_TRY(find_plates(&other, definition));
    used = base;
    for (size_t k = 0; k < other.n; k++) {
        size_t i = 0;
        while (i < c->n && c->in[i] != other.in[k]) i++;
        if (i == c->n) {
            const char *p = c->plates[other.in[k]].name;
            if (opt_key)
                cri_json_fail_key(c->d, at, opt_key, "'%s' is repeated by '%s', but '%s' is not",
                                  key, p, c->name);
            else
                cri_json_fail(c->d, at, "'%s' is repeated by '%s', but '%s' is not", key, p,
                              c->name);
            CR_TRY(cr_fail_hint(c->d->cx, "parents are in no other plates than their children"));
        }
        other.at[k] = c->at[i];
        put_place(&other, k, k == 0, out, &used);
    }
    if (used < MOST_NAME)
        used += (size_t)snprintf(out + used, MOST_NAME - used, "%s%s", other.n > 0 ? "]" : "",
                                 name + base);
    if (used >= MOST_NAME) CR_TRY(fail_length(c, at));
done:
    return st;
}

/* A value that may be a name. */
static cr_status write_name(copy *c, json_t *value, json_t **out)
{
    char      name[MOST_NAME];
    cr_status st = CR_OK;
    *out = NULL;
    if (!json_is_string(value)) {
        *out = json_incref(value);
        return CR_OK;
    }
    CR_TRY(rename_one(c, value, NULL, json_string_value(value), name));
    *out = json_string(name);
    if ((st = note(c, *out, value)) != CR_OK) *out = NULL;
done:
    return st;
}

static cr_status write_names(copy *c, json_t *list, json_t **out)
{
    cr_status st = CR_OK;
    json_t   *made = NULL, *item, *one;
    size_t    i;
    if (!json_is_array(list)) {
        *out = json_incref(list);
        return CR_OK;
    }
    made = json_array();
    if ((st = note(c, made, list)) != CR_OK) return st;
    json_array_foreach(list, i, item)
    {
        CR_TRY(write_name(c, item, &one));
        if (json_array_append_new(made, one) != 0) CR_TRY(cri_fail_memory(c->d->cx, 0));
    }
    *out = made;
    made = NULL;
done:
    json_decref(made);
    return st;
}

/* An object whose keys are names. */
static cr_status write_keys(copy *c, json_t *object, json_t **out)
{
    cr_status   st = CR_OK;
    json_t     *made = NULL, *value;
    const char *key;
    char        name[MOST_NAME];
    if (!json_is_object(object)) {
        *out = json_incref(object);
        return CR_OK;
    }
    made = json_object();
    if ((st = note(c, made, object)) != CR_OK) return st;
    json_object_foreach(object, key, value)
    {
        CR_TRY(rename_one(c, object, key, key, name));
        if (json_object_set(made, name, value) != 0) CR_TRY(cri_fail_memory(c->d->cx, 0));
    }
    *out = made;
    made = NULL;
done:
    json_decref(made);
    return st;
}

/* What is done with a member of an object; the last has no key and is for all others, NULL: they stay. */
typedef struct member {
    const char *key;
    cr_status (*write)(copy *c, json_t *value, json_t **out);
} member;

static cr_status write_members(copy *c, json_t *object, const member *table, json_t **out)
{
    cr_status   st = CR_OK;
    json_t     *made = NULL, *value, *one;
    const char *key;
    if (!json_is_object(object)) {
        *out = json_incref(object);
        return CR_OK;
    }
    made = json_object();
    if ((st = note(c, made, object)) != CR_OK) return st;
    json_object_foreach(object, key, value)
    {
        const member *m = table;
        while (m->key && strcmp(m->key, key) != 0) m++;
        one = m->write ? NULL : json_incref(value);
        if (m->write) CR_TRY(m->write(c, value, &one));
        if (one && json_object_set_new(made, key, one) != 0) CR_TRY(cri_fail_memory(c->d->cx, 0));
    }
    *out = made;
    made = NULL;
done:
    json_decref(made);
    return st;
}

static cr_status write_nothing(copy *c, json_t *value, json_t **out)
{
    (void)c, (void)value;
    *out = NULL;
    return CR_OK;
}

static cr_status write_tree(copy *c, json_t *value, json_t **out);

static cr_status write_branches(copy *c, json_t *value, json_t **out)
{
    static const member BRANCHES[] = { { NULL, write_tree } };
    return write_members(c, value, BRANCHES, out);
}

/* A tree, or the row at its end, in which there are no names. */
static cr_status write_tree(copy *c, json_t *value, json_t **out)
{
    static const member TREE[] = { { "split", write_name },
                                   { "branches", write_branches },
                                   { NULL, NULL } };
    return write_members(c, value, TREE, out);
}

static cr_status write_noisy(copy *c, json_t *value, json_t **out)
{
    static const member NOISY[] = {
        { "strengths", write_keys }, { "on", write_keys }, { "effects", write_keys }, { NULL, NULL }
    };
    return write_members(c, value, NOISY, out);
}

/* What a variable depends on. */
static cr_status write_definition(copy *c, json_t *value, json_t **out)
{
    static const member DEFINITION[] = { { "plate", write_nothing },
                                         { "parents", write_names },
                                         { "initial", write_definition },
                                         { "noisy-or", write_noisy },
                                         { "noisy-max", write_noisy },
                                         { "tree", write_tree },
                                         { NULL, NULL } };
    return write_members(c, value, DEFINITION, out);
}

/* All copies of a variable. */
static cr_status write_copies(copy *c, json_t *definition, json_t *out)
{
    cr_status st = CR_OK;
    size_t    all = 1;
    json_t   *one;
    char      name[MOST_NAME];
    for (size_t k = 0; k < c->n; k++) all *= c->plates[c->in[k]].size;
    for (size_t i = 0; i < all; i++) {
        for (size_t k = c->n, rest = i; k-- > 0;) {
            c->at[k] = rest % c->plates[c->in[k]].size;
            rest /= c->plates[c->in[k]].size;
        }
        if (i % 1024 == 0) CR_TRY(cr_check_interrupt(c->d->cx));
        CR_TRY(rename_one(c, definition, NULL, c->name, name));
        if (json_object_get(out, name))
            CR_TRY(cri_json_fail(c->d, definition, "the variable '%s' exists already", name));
        CR_TRY(write_definition(c, definition, &one));
        if (json_object_set_new(out, name, one) != 0) CR_TRY(cri_fail_memory(c->d->cx, 0));
    }
done:
    return st;
}

/* Refuses too many variables before any is written out. */
static cr_status check_number(copy *c, json_t *list)
{
    cr_status   st = CR_OK;
    json_t     *one;
    double      total = 0;
    const char *name;
    json_object_foreach(list, name, one)
    {
        double all = 1;
        c->name = name;
        CR_TRY(find_plates(c, one));
        if (c->n > 0 && strpbrk(name, "[]"))
            CR_TRY(cri_json_fail_key(c->d, list, name, "a name in a plate has no brackets"));
        for (size_t k = 0; k < c->n; k++) all *= (double)c->plates[c->in[k]].size;
        total += all;
        if (total > CRI_MOST_REPEATED)
            CR_TRY(cri_json_fail_key(c->d, list, name,
                                     "more than %d variables, all plates written out",
                                     CRI_MOST_REPEATED));
    }
done:
    return st;
}

static int by_value(const void *a, const void *b)
{
    const json_t *x = ((const cri_json_made *)a)->value, *y = ((const cri_json_made *)b)->value;
    return (x > y) - (x < y);
}

/* Is there something to write out? */
static bool has_plates(const cri_json *d, json_t *list)
{
    const char *name;
    json_t     *one;
    if (json_object_get(d->root, "plates")) return true;
    json_object_foreach(list, name, one) if (json_object_get(one, "plate")) return true;
    return false;
}

cr_status cri_json_plates(cri_json *d, json_t *list, json_t **out_list)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(d->cx);
    json_t     *plates = json_object_get(d->root, "plates"), *one;
    copy        c = { .d = d, .variables = list };
    plate      *read = NULL;
    const char *name;
    *out_list = list;
    if (!has_plates(d, list)) goto done;
    if (plates) CR_TRY(read_plates(d, plates, &s, &read, &c.n_plates));
    c.plates = read;
    CR_TRY(cri_json_is_object(d, list, "an object of variables"));
    CR_TRY(check_number(&c, list));
    d->own = json_object();
    if (!d->own) CR_TRY(cri_fail_memory(d->cx, 0));
    json_object_foreach(list, name, one)
    {
        c.name = name;
        CR_TRY(find_plates(&c, one));
        CR_TRY(write_copies(&c, one, d->own));
    }
    CR_TRY(note(&c, json_incref(d->own), list));
    json_decref(d->own);
    *out_list = d->own;
done:
    if (d->n_made > 0) qsort(d->made, d->n_made, sizeof *d->made, by_value);
    cr_scratch_end(&s);
    return st;
}

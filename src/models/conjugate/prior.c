/* prior.c -- priors as text: words, parameters, moments. */
#include "prior.h"
#include "base/list.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cr_status read_item(cr_ctx *cx, char *text, cri_prior_item *out)
{
    char  *cut = strrchr(text, '='), *value = cut ? cut + 1 : text;
    size_t length = strlen(value);
    if (!cut) return cr_fail(cx, CR_EARG, "--prior: '%s' is not NAME=VALUE", text);
    if (length == 0 || cri_parse_double(value, value + length, &out->value) != length ||
        !isfinite(out->value))
        return cr_fail(cx, CR_EARG, "--prior: '%s' is not a number in '%s'", value, text);
    *cut = '\0';
    out->key = text;
    return CR_OK;
}

cr_status cri_prior_read(cr_ctx *cx, cr_scratch *s, const char *model, const char *text,
                         cri_prior *out)
{
    cr_status st = CR_OK;
    cri_prior p = { .model = model, .text = text ? text : "" };
    char    **parts = NULL;
    size_t    n = 0;

    CR_TRY(cri_list_split(s, text, &parts, &n));
    if (n == 1 && !strchr(parts[0], '=')) {
        p.word = parts[0];
        *out = p;
        goto done;
    }
    p.items = cr_scratch_bytes(s, n, sizeof *p.items);
    CR_TRY(s->status);
    for (; p.n < n; p.n++) {
        CR_TRY(read_item(cx, parts[p.n], &p.items[p.n]));
        for (size_t i = 0; i < p.n; i++)
            if (strcmp(p.items[i].key, p.items[p.n].key) == 0)
                CR_TRY(cr_fail(cx, CR_EARG, "--prior: '%s' is given twice", p.items[i].key));
    }
    *out = p;
done:
    return st;
}

bool cri_prior_is(const cri_prior *p, const char *word)
{
    return p->word && strcmp(p->word, word) == 0;
}

/* The item whose name is the first `length` characters of key. */
static const cri_prior_item *find(const cri_prior *p, const char *key, size_t length)
{
    for (size_t i = 0; i < p->n; i++)
        if (strlen(p->items[i].key) == length && strncmp(p->items[i].key, key, length) == 0)
            return &p->items[i];
    return NULL;
}

bool cri_prior_match(const cri_prior *p, const char *keys, double *out)
{
    size_t k = 0;
    double values[8];
    for (const char *at = keys; *at; at += *at == ',') {
        size_t                length = strcspn(at, ",");
        const cri_prior_item *item = find(p, at, length);
        if (!item) return false;
        values[k++] = item->value;
        at += length;
    }
    if (k != p->n) return false;
    memcpy(out, values, k * sizeof *out);
    return true;
}

cr_status cri_prior_above(cr_ctx *cx, const char *key, double value, double bound)
{
    if (value > bound) return CR_OK;
    return cr_fail(cx, CR_EARG, "--prior: %s is %g, but must be above %g", key, value, bound);
}

cr_status cri_prior_refuse(cr_ctx *cx, const cri_prior *p, const char *forms)
{
    cr_fail(cx, CR_EARG, "--prior: '%s' is not a prior of %s", p->text, p->model);
    return cr_fail_note(cx, "priors: %s", forms);
}

cr_status cri_prior_rate(cr_ctx *cx, const cri_prior *p, double jeffreys, const char *words,
                         double out[2])
{
    cr_status st = CR_OK;
    double    v[2];
    if (cri_prior_match(p, "shape,rate", v)) {
        CR_TRY(cri_prior_above(cx, "shape", v[0], 0));
        CR_TRY(cri_prior_above(cx, "rate", v[1], 0));
        memcpy(out, v, sizeof v);
    } else if (cri_prior_match(p, "mean,sd", v)) {
        CR_TRY(cri_prior_above(cx, "mean", v[0], 0));
        CR_TRY(cri_prior_above(cx, "sd", v[1], 0));
        out[0] = v[0] / v[1] * (v[0] / v[1]);
        out[1] = v[0] / v[1] / v[1];
    } else {
        bool flat = cri_prior_is(p, "flat") || cri_prior_is(p, "uniform");
        bool known = flat || cri_prior_is(p, "jeffreys") || cri_prior_is(p, "haldane");
        char forms[128];
        snprintf(forms, sizeof forms, "%s; shape=A,rate=B; mean=M,sd=S", words);
        if (!known) CR_TRY(cri_prior_refuse(cx, p, forms));
        out[0] = flat ? 1 : cri_prior_is(p, "jeffreys") ? jeffreys : 0;
        out[1] = 0;
    }
done:
    return st;
}

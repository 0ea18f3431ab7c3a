/* findings.c -- lists of what is known, and files of them. */
#include "query.h"
#include "base/context_internal.h"
#include "graph/files/network_text.h"
#include "query_more.h"
#include "graph/files/uai.h"
#include "base/file.h"
#include "base/scratch.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static cr_status check_weights(cr_ctx *cx, const char *name, cr_finding_kind kind, size_t n,
                               const double *weight)
{
    double sum = 0;
    for (size_t s = 0; s < n; s++) {
        if (!(weight[s] >= 0) || weight[s] > DBL_MAX)
            return cr_fail(cx, CR_EARG, "evidence on '%s': %g is not a valid weight for a state",
                           name, weight[s]);
        sum += weight[s];
    }
    if (sum == 0) return cr_fail(cx, CR_EARG, "the evidence on '%s' excludes all its states", name);
    if (kind == CR_FINDING_SOFT && !(fabs(sum - 1) < 1e-6))
        return cr_fail(cx, CR_EARG, "the soft evidence on '%s' sums to %.10g, expected 1", name,
                       sum);
    return CR_OK;
}

bool cri_same_finding(const cr_finding *a, const cr_finding *b)
{
    return a->kind == CR_FINDING_STATE && b->kind == CR_FINDING_STATE &&
           a->variable == b->variable && a->states == b->states &&
           memcmp(a->weight, b->weight, a->states * sizeof *a->weight) == 0;
}

/* The variable of the network that v is, in whatever slice (dynamic_network.h). */
static size_t within_slice(const cr_network *net, size_t v) { return v % cr_network_size(net); }

static cr_status refuse_second(cr_ctx *cx, const cr_network *net, size_t v)
{
    const cr_variables *vs = cr_network_variables(net);
    cr_fail(cx, CR_EARG, "there is already evidence on '%s'", cr_variable_name(vs, v));
    if (cr_variable_states(vs, v) < 2) return CR_EARG;
    return cr_fail_hint(
        cx, "combine several observations by multiplying their likelihoods: %s~{%s:0.6, %s:0.1}",
        cr_variable_name(vs, v), cr_state_name(vs, v, 0), cr_state_name(vs, v, 1));
}

static cr_status add(cr_ctx *cx, cr_findings *list, const cr_network *net, cr_finding_kind kind,
                     size_t v, const double *weight)
{
    cr_status st = CR_OK;
    size_t    states = cr_network_states(net, within_slice(net, v));
    double   *copy = NULL;
    for (size_t i = 0; i < list->n; i++)
        if (list->item[i].variable == v) {
            cr_finding again = { kind, v, states, (double *)(uintptr_t)weight };
            if (cri_same_finding(&list->item[i], &again)) return CR_OK;
            return refuse_second(cx, net, within_slice(net, v));
        }
    CR_TRY(cri_array_grow(cx, &list->item, list->n, &list->capacity, sizeof *list->item));
    copy = cr_alloc(cx, states, sizeof *copy);
    if (!copy) CR_TRY(CR_ENOMEM);
    memcpy(copy, weight, states * sizeof *copy);
    list->item[list->n++] = (cr_finding){ kind, v, states, copy };
done:
    return st;
}

cr_status cr_findings_add(cr_ctx *cx, cr_findings *list, const cr_network *net,
                          cr_finding_kind kind, size_t v, const double *weight)
{
    size_t      one = within_slice(net, v);
    const char *name = cr_variable_name(cr_network_variables(net), one);
    cr_status   st = check_weights(cx, name, kind, cr_network_states(net, one), weight);
    return st == CR_OK ? add(cx, list, net, kind, v, weight) : st;
}

cr_status cri_findings_add_value(cr_ctx *cx, cr_findings *list, const cr_network *graph, size_t v,
                                 double value)
{
    return add(cx, list, graph, CR_FINDING_STATE, v, &value);
}

void cr_findings_free(cr_ctx *cx, cr_findings *list)
{
    for (size_t i = 0; i < list->n; i++)
        cr_free(cx, list->item[i].weight, list->item[i].states, sizeof(double));
    cr_free(cx, list->item, list->capacity, sizeof *list->item);
    *list = (cr_findings){ 0 };
}

/* --- files ----------------------------------------------------------------------------------- */

typedef struct job {
    cr_ctx           *cx;
    cr_findings      *list;
    const cr_network *net;
    const char       *path;
    bool              times; /* of variables in slices: "x[t=3]" */
} job;

static cr_status find_state(const job *j, size_t v, const char *name, size_t *out_s)
{
    const char *variable = cr_variable_name(cr_network_variables(j->net), v);
    *out_s = cr_state_lookup(cr_network_variables(j->net), v, name ? name : "");
    if (*out_s != CR_NONE) return CR_OK;
    cr_fail(j->cx, CR_EDATA, "%s: '%s' has no state '%s'", j->path, variable, name ? name : "");
    return cri_nearest_state(j->cx, cr_network_variables(j->net), v, name ? name : "");
}

/* "a"; a whole number or a truth value stands for the state that is written so. */
static const char *state_text(const json_t *value, char out[32])
{
    if (json_is_boolean(value)) return json_is_true(value) ? "true" : "false";
    if (!json_is_integer(value)) return json_string_value(value);
    snprintf(out, 32, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return out;
}

/* {"a": 3, "b": 1} */
static cr_status read_likelihoods(const job *j, size_t v, const json_t *value, double *weight)
{
    cr_status   st = CR_OK;
    const char *key;
    json_t     *item;
    size_t      s;
    if (json_object_size(value) != cr_network_states(j->net, v))
        return cr_fail(j->cx, CR_EDATA,
                       "%s: the likelihoods of '%s' are %zu, but it has %zu states", j->path,
                       cr_variable_name(cr_network_variables(j->net), v), json_object_size(value),
                       cr_network_states(j->net, v));
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        CR_TRY(find_state(j, v, key, &s));
        if (!json_is_number(item))
            CR_TRY(cr_fail(j->cx, CR_EDATA, "%s: the likelihood of '%s' is not a number", j->path,
                           key));
        weight[s] = json_number_value(item);
    }
done:
    return st;
}

/* {"soft": {"a": 0.7, "b": 0.3}}, {"do": "a"}: no list of numbers by state, whatever these are
 * called.  *inout_value becomes what is said so. */
static cr_finding_kind read_kind(const json_t **inout_value)
{
    const json_t *soft = json_object_get(*inout_value, "soft");
    const json_t *action = json_object_get(*inout_value, "do");
    bool          one = json_object_size(*inout_value) == 1;
    if (one && json_is_object(soft)) {
        *inout_value = soft;
        return CR_FINDING_SOFT;
    }
    if (one && action && !json_is_real(action)) {
        *inout_value = action;
        return CR_FINDING_DO;
    }
    return CR_FINDING_STATE;
}

/* {"a": 0.7, "b": 0.3}; a state that is not there has probability 0. */
static cr_status read_probabilities(const job *j, size_t v, const json_t *value, double *weight)
{
    cr_status   st = CR_OK;
    const char *key;
    json_t     *item;
    size_t      s;
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        CR_TRY(find_state(j, v, key, &s));
        if (!json_is_number(item))
            CR_TRY(cr_fail(j->cx, CR_EDATA, "%s: the probability of '%s' is not a number", j->path,
                           key));
        weight[s] = json_number_value(item);
    }
done:
    return st;
}

/* The number of the variable of this name; within slices, of that slice. */
static cr_status find_variable(const job *j, const char *name, size_t *out_number)
{
    if (j->times) {
        char      sentence[512], hint[512];
        cr_status st = cri_find_in_slice(j->cx, j->net, name, out_number);
        if (st != CR_EARG) return st;
        snprintf(sentence, sizeof sentence, "%s", cr_error(j->cx));
        snprintf(hint, sizeof hint, "%s", cr_error_hint(j->cx));
        cr_fail(j->cx, CR_EDATA, "%s: \"%.200s\": %s", j->path, name, sentence);
        return hint[0] ? cr_fail_hint(j->cx, "%s", hint) : CR_EDATA;
    }
    *out_number = cr_variable_lookup(cr_network_variables(j->net), name);
    if (*out_number != CR_NONE) return CR_OK;
    cr_fail(j->cx, CR_EDATA, "%s: there is no variable '%s'", j->path, name);
    return cri_nearest_variable(j->cx, j->net, name);
}

static cr_status read_finding(const job *j, const char *name, const json_t *value)
{
    cr_status       st = CR_OK;
    cr_scratch      arena = cr_scratch_begin(j->cx);
    cr_finding_kind kind = CR_FINDING_STATE;
    size_t          s, i, v, number;
    json_t         *item;
    CR_TRY(find_variable(j, name, &number));
    v = within_slice(j->net, number);
    double *weight = cr_scratch_bytes(&arena, cr_network_states(j->net, v), sizeof *weight);
    CR_TRY(arena.status);
    kind = read_kind(&value);
    if (kind == CR_FINDING_SOFT) {
        CR_TRY(read_probabilities(j, v, value, weight));
    } else if (json_is_string(value) || json_is_integer(value) || json_is_boolean(value)) {
        char text[32];
        CR_TRY(find_state(j, v, state_text(value, text), &s));
        weight[s] = 1;
    } else if (kind == CR_FINDING_DO) {
        CR_TRY(
            cr_fail(j->cx, CR_EDATA, "%s: do needs the state that '%s' is set to", j->path, name));
    } else if (json_is_array(value)) {
        kind = CR_FINDING_SET;
        json_array_foreach((json_t *)(uintptr_t)value, i, item)
        {
            char text[32];
            CR_TRY(find_state(j, v, state_text(item, text), &s));
            weight[s] = 1;
        }
    } else if (json_is_object(value)) {
        kind = CR_FINDING_VIRTUAL;
        CR_TRY(read_likelihoods(j, v, value, weight));
    } else {
        CR_TRY(cr_fail(j->cx, CR_EDATA,
                       "%s: '%s' should have a state, a list of states, likelihoods by "
                       "state, {\"soft\": {...}} or {\"do\": state}",
                       j->path, name));
    }
    CR_TRY(cr_findings_add(j->cx, j->list, j->net, kind, number, weight));
done:
    cr_scratch_end(&arena);
    return st;
}

static cr_status parse_json(const job *j, const char *bytes, size_t size)
{
    cr_status    st = CR_OK;
    json_t      *root = NULL, *value;
    json_error_t error;
    const char  *key;
    root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        CR_TRY(cr_fail(j->cx, CR_EDATA, "%s:%d:%d: not JSON: %s", j->path, error.line, error.column,
                       error.text));
    if (!json_is_object(root))
        CR_TRY(cr_fail(j->cx, CR_EDATA,
                       "%s: expected an object of variables and the evidence on them", j->path));
    json_object_foreach(root, key, value) CR_TRY(read_finding(j, key, value));
done:
    json_decref(root);
    return st;
}

static cr_status read_json(const job *j)
{
    char     *bytes = NULL;
    size_t    size = 0;
    cr_status st = cri_file_load(j->cx, j->path, 0, &bytes, &size);
    if (st != CR_OK) return st;
    st = parse_json(j, bytes, size);
    cr_free(j->cx, bytes, size, 1);
    return st;
}

static cr_status read_uai(const job *j)
{
    cr_status    st = CR_OK;
    cr_evidence *e = NULL;
    CR_TRY(cr_evidence_new(j->cx, j->net, &e));
    CR_TRY(cr_uai_read_evidence(j->cx, j->path, j->net, e));
    for (size_t v = 0; v < cr_network_size(j->net); v++)
        if (cr_evidence_likelihood(e, v))
            CR_TRY(cr_findings_add(j->cx, j->list, j->net, CR_FINDING_STATE, v,
                                   cr_evidence_likelihood(e, v)));
done:
    cr_evidence_free(j->cx, e);
    return st;
}

cr_status cr_findings_read(cr_ctx *cx, cr_findings *list, const cr_network *net, const char *path)
{
    job    j = { cx, list, net, path, false };
    size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".evid") == 0 ? read_uai(&j) : read_json(&j);
}

cr_status cr_findings_parse(cr_ctx *cx, cr_findings *list, const cr_network *net,
                            const char *source, const char *bytes, size_t size)
{
    return parse_json(&(job){ cx, list, net, source, false }, bytes, size);
}

cr_status cri_findings_read_slices(cr_ctx *cx, cr_findings *list, const cr_network *slice,
                                   const char *path)
{
    return read_json(&(job){ cx, list, slice, path, true });
}

cr_status cri_findings_parse_slices(cr_ctx *cx, cr_findings *list, const cr_network *slice,
                                    const char *source, const char *bytes, size_t size)
{
    return parse_json(&(job){ cx, list, slice, source, true }, bytes, size);
}

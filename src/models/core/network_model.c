/* network_model.c -- which class a file of a network belongs to. */
#include "network_model.h"
#include "model_internal.h"
#include "base/bytes.h"
#include "data/bytes/source.h"
#include "graph/files/json_dynamic.h"
#include "graph/files/network_store.h"

#include <string.h>

const cr_model_class *cri_class_of_name(const char *name)
{
    if (strcmp(name, cri_class_network.name) == 0) return &cri_class_network;
    for (size_t i = 0; i < cr_class_count(); i++)
        if (strcmp(cr_class_at(i)->name, name) == 0) return cr_class_at(i);
    return NULL;
}

/* "model": "network" in a model.json that lies in the archive as it is. */
const cr_model_class *cri_class_of_bytes(const void *bytes, size_t size)
{
    const char *begin = bytes, *end = begin + size;
    const char *at = cri_find_text(begin, size, "\"model\"");
    char        name[64];
    size_t      n = 0;
    if (!at) return NULL;
    for (at += 7; at < end && (*at == ' ' || *at == ':'); at++) continue;
    if (at == end || *at++ != '"') return NULL;
    for (; at < end && *at != '"' && n + 1 < sizeof name; at++) name[n++] = *at;
    name[n] = '\0';
    return at < end && *at == '"' ? cri_class_of_name(name) : NULL;
}

bool cri_class_is_network(const cr_model_class *opt_c) { return opt_c && opt_c->network; }
bool cri_class_learns(const cr_model_class *opt_c)
{
    return opt_c && (opt_c->whole || opt_c->sums || opt_c->em);
}

bool cri_model_network(const cr_model *m, cri_any_network *out)
{
    if (!m->class->network) return false;
    const cri_network_face *face = m->class->network;
    *out = (cri_any_network){ .methods = face->methods, .net = face->network(m->state) };
    if (face->arcs) face->arcs(m->state, &out->strength, &out->compelled);
    return true;
}

/* A model around a network, which becomes its own. */
static cr_status wrap(cr_ctx *cx, const cr_model_class *c, void *net, cr_model **out_model)
{
    cr_model *m = cri_model_new(cx, c);
    void    **state = m ? cr_alloc(cx, 1, sizeof *state) : NULL;
    if (!state) {
        cr_model_free(cx, m);
        return CR_ENOMEM;
    }
    *state = net;
    m->state = state;
    m->task = CR_TASK_NETWORK;
    *out_model = m;
    return CR_OK;
}

cr_status cri_model_read_network(cr_ctx *cx, const char *path, cr_network_format format,
                                 cr_model **out_model)
{
    cr_status            st = CR_OK;
    cri_source          *source = NULL;
    cri_block            data = { 0 };
    cr_network          *net = NULL;
    cr_gaussian_network *gaussian = NULL;
    cri_dynamic         *dynamic = NULL;
    const char          *name;
    CR_TRY(cri_source_open(cx, path, &source));
    CR_TRY(cri_source_load(cx, source, &data));
    name = cri_source_name(source);
    if (format == CR_FORMAT_AUTO) format = cr_network_format_of(path);
    if (format == CR_FORMAT_AUTO) format = cr_network_sniff(data.bytes, data.size);
    if (format == CR_FORMAT_CRED) {
        const cr_model_class *c = cri_class_of_bytes(data.bytes, data.size);
        if (cri_class_is_network(c) && cri_class_learns(c)) {
            CR_TRY(cr_model_from_bytes(cx, name, data.bytes, data.size, out_model));
            goto done;
        }
    }
    if (format == CR_FORMAT_JSON && cri_json_is_dynamic(data.bytes, data.size)) {
        CR_TRY(cri_json_parse_dynamic(cx, name, data.bytes, data.size, &dynamic));
        CR_TRY(wrap(cx, &cri_class_dynamic_network, dynamic, out_model));
        dynamic = NULL;
        goto done;
    }
    CR_TRY(cri_network_parse_either(cx, name, data.bytes, data.size, format, &net, &gaussian));
    CR_TRY(gaussian ? wrap(cx, &cri_class_gaussian_network, gaussian, out_model)
                    : wrap(cx, &cri_class_network, net, out_model));
    net = NULL;
    gaussian = NULL;
done:
    cr_network_free(cx, net);
    cr_gaussian_network_free(cx, gaussian);
    cri_dynamic_free(cx, dynamic);
    cr_free(cx, data.bytes, data.capacity, 1);
    cri_source_close(source);
    return st;
}

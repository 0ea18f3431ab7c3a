/* network_file.c -- which reader, which writer. */
#include "network_file.h"
#include "bif.h"
#include "json_network.h"
#include "net.h"
#include "network_store.h"
#include "graph/network/noisy.h"
#include "uai.h"
#include "xmlbif.h"
#include "base/bytes.h"
#include "base/context_internal.h"
#include "data/bytes/packed.h"
#include "data/bytes/source.h"

#include <string.h>

static const double MOST_ENTRIES = 1e8; /* that are written out of effects: gigabytes of text */

typedef cr_status parse_fn(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                           cr_network **out_net);
typedef cr_status write_fn(cr_ctx *cx, const cr_network *net, const char *path);

static const struct {
    const char *name, *endings; /* blanks between */
    parse_fn   *parse;
    write_fn   *write;
} FORMATS[] = {
    [CR_FORMAT_AUTO] = { "auto", "", NULL, NULL },
    [CR_FORMAT_BIF] = { "bif", ".bif", cr_bif_parse, cr_bif_write },
    [CR_FORMAT_XMLBIF] = { "xmlbif", ".xmlbif .bifxml .xml", cr_xmlbif_parse, cr_xmlbif_write },
    [CR_FORMAT_NET] = { "net", ".net", cr_net_parse, cr_net_write },
    [CR_FORMAT_UAI] = { "uai", ".uai", cr_uai_parse, cr_uai_write },
    [CR_FORMAT_CRED] = { "cred", ".cred", cri_network_from_bytes, cri_network_save },
    [CR_FORMAT_JSON] = { "json", ".json", cr_json_parse, cr_json_write },
};
enum { FORMAT_COUNT = sizeof FORMATS / sizeof *FORMATS };

const char *cr_network_format_name(cr_network_format format)
{
    return (size_t)format < FORMAT_COUNT ? FORMATS[format].name : "";
}

/* Does the text of this length end so? */
static bool has_ending(const char *path, size_t length, const char *ending, size_t n)
{
    return length > n && memcmp(path + length - n, ending, n) == 0;
}

cr_network_format cr_network_format_of(const char *path)
{
    size_t length = strlen(path);
    if (has_ending(path, length, ".gz", 3))
        length -= 3;
    else if (has_ending(path, length, ".zst", 4))
        length -= 4;
    for (size_t f = 1; f < FORMAT_COUNT; f++)
        for (const char *e = FORMATS[f].endings; *e; e += strspn(e, " ")) {
            size_t n = strcspn(e, " ");
            if (has_ending(path, length, e, n)) return (cr_network_format)f;
            e += n;
        }
    return CR_FORMAT_AUTO;
}

/* Is this the word at p, followed by a blank, a brace or the like? */
static bool begins_with(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(end - p) < n + 1 || memcmp(p, word, n) != 0) return false;
    return strchr(" \t\r\n{\"/%", p[n]) != NULL;
}

/* Over white space and comments of all the formats. */
static const char *skip_space(const char *p, const char *end)
{
    for (;;) {
        while (p < end && strchr(" \t\r\n", *p) && *p) p++;
        if (p + 1 < end && p[0] == '/' && p[1] == '*') {
            for (p += 2; p + 1 < end && !(p[0] == '*' && p[1] == '/'); p++) continue;
            p = p + 2 < end ? p + 2 : end;
        } else if (p < end && (*p == '%' || (p + 1 < end && p[0] == '/' && p[1] == '/'))) {
            while (p < end && *p != '\n') p++;
        } else {
            return p;
        }
    }
}

cr_network_format cr_network_sniff(const void *bytes, size_t size)
{
    const char *p = bytes, *end = p + size;
    if (size >= 4 && memcmp(p, "PK\3\4", 4) == 0) return CR_FORMAT_CRED;
    if (size >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) p += 3;
    p = skip_space(p, end);
    if (begins_with(p, end, "network") || begins_with(p, end, "variable") ||
        begins_with(p, end, "probability"))
        return CR_FORMAT_BIF;
    if (begins_with(p, end, "net") || begins_with(p, end, "node") || begins_with(p, end, "class"))
        return CR_FORMAT_NET;
    if (begins_with(p, end, "MARKOV") || begins_with(p, end, "BAYES")) return CR_FORMAT_UAI;
    if (end - p >= 5 && (memcmp(p, "<?xml", 5) == 0 || memcmp(p, "<BIF", 4) == 0))
        return CR_FORMAT_XMLBIF;
    if (p < end && *p == '{' && cri_find_text(p, (size_t)(end - p), "\"network\""))
        return CR_FORMAT_JSON;
    return CR_FORMAT_AUTO;
}

cr_status cr_network_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                           cr_network_format format, cr_network **out_net)
{
    if (format == CR_FORMAT_AUTO) format = cr_network_sniff(bytes, size);
    if (format == CR_FORMAT_AUTO) format = cr_network_format_of(source);
    if (format == CR_FORMAT_AUTO || (size_t)format >= FORMAT_COUNT) {
        cr_fail(cx, CR_EDATA, "%s does not look like a network", source);
        return cr_fail_hint(cx, "network formats are bif, xmlbif, net, uai, cred and json");
    }
    return FORMATS[format].parse(cx, source, bytes, size, out_net);
}

cr_status cri_network_parse_either(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                   cr_network_format format, cr_network **out_net,
                                   cr_gaussian_network **out_gaussian)
{
    cr_status            st = CR_OK;
    cr_gaussian_network *gaussian = NULL;
    if (format == CR_FORMAT_JSON && cr_json_is_gaussian(bytes, size))
        CR_TRY(cr_json_parse_gaussian(cx, source, bytes, size, &gaussian));
    else if (format == CR_FORMAT_CRED)
        CR_TRY(cri_gaussian_from_bytes(cx, source, bytes, size, &gaussian));
    if (!gaussian) CR_TRY(cr_network_parse(cx, source, bytes, size, format, out_net));
    *out_gaussian = gaussian;
done:
    return st;
}

/* opt_gaussian NULL: a Gaussian network is none. */
static cr_status read_file(cr_ctx *cx, const char *path, cr_network_format format,
                           cr_network **out_net, cr_gaussian_network **opt_gaussian)
{
    cr_status   st = CR_OK;
    cri_source *source = NULL;
    cri_block   data = { 0 };
    CR_TRY(cri_source_open(cx, path, &source));
    CR_TRY(cri_source_load(cx, source, &data));
    const char *name = cri_source_name(source);
    if (format == CR_FORMAT_AUTO) format = cr_network_format_of(path);
    if (format == CR_FORMAT_AUTO) format = cr_network_sniff(data.bytes, data.size);
    CR_TRY(opt_gaussian ? cri_network_parse_either(cx, name, data.bytes, data.size, format, out_net,
                                                   opt_gaussian)
                        : cr_network_parse(cx, name, data.bytes, data.size, format, out_net));
done:
    cr_free(cx, data.bytes, data.capacity, 1);
    cri_source_close(source);
    return st;
}

cr_status cr_network_read(cr_ctx *cx, const char *path, cr_network_format format,
                          cr_network **out_net)
{
    return read_file(cx, path, format, out_net, NULL);
}

cr_status cr_network_read_either(cr_ctx *cx, const char *path, cr_network_format format,
                                 cr_network **out_net, cr_gaussian_network **out_gaussian)
{
    cr_network          *net = NULL;
    cr_gaussian_network *gaussian = NULL;
    cr_status            st = read_file(cx, path, format, &net, &gaussian);
    if (st != CR_OK) return st;
    *out_net = net;
    *out_gaussian = gaussian;
    return CR_OK;
}

static cr_status refuse_packed(cr_ctx *cx, const char *path)
{
    cr_fail(cx, CR_EARG, "a .cred file is already an archive and is not compressed again: '%s'",
            path);
    return cr_fail_hint(cx, "let the name end in .cred");
}

/* Formats that hold tables only get the tables of what has none. */
static cr_status write_as(cr_ctx *cx, const cr_network *net, const char *path,
                          cr_network_format format)
{
    cr_status   st = CR_OK;
    cr_network *filled = NULL;
    if (format != CR_FORMAT_CRED && format != CR_FORMAT_JSON) {
        st = cri_network_fill(cx, net, NULL, MOST_ENTRIES, &filled);
        for (size_t v = 0; st == CR_OK && !filled && v < net->tables; v++)
            if (cri_noisy_only(net, v))
                st = cr_fail(cx, CR_ENOMEM, "the table of '%s' would have %.3g entries",
                             cr_variable_name(net->variables, v),
                             cri_table_entries(net, &net->table[v]));
        if (st == CR_ENOMEM && !cri_should_stop(cx))
            cr_fail_hint(cx, ".json and .cred need no table for it");
        CR_TRY(st);
    }
    CR_TRY(FORMATS[format].write(cx, filled ? filled : net, path));
done:
    cr_network_free(cx, filled);
    return st;
}

cr_status cr_network_write(cr_ctx *cx, const cr_network *net, const char *path,
                           cr_network_format format)
{
    if (format == CR_FORMAT_AUTO) format = cr_network_format_of(path);
    if (format == CR_FORMAT_AUTO || (size_t)format >= FORMAT_COUNT) {
        cr_fail(cx, CR_EARG, "cannot tell the format of a network from the name '%s'", path);
        return cr_fail_hint(cx, "end it in .bif, .xmlbif, .net, .uai, .cred or .json");
    }
    if (format == CR_FORMAT_CRED && cri_is_packed_name(path)) return refuse_packed(cx, path);
    return write_as(cx, net, path, format);
}

cr_status cr_gaussian_network_write(cr_ctx *cx, const cr_gaussian_network *net, const char *path,
                                    cr_network_format format)
{
    if (format == CR_FORMAT_AUTO) format = cr_network_format_of(path);
    if (format == CR_FORMAT_JSON) return cr_json_write_gaussian(cx, net, path);
    if (format == CR_FORMAT_CRED && cri_is_packed_name(path)) return refuse_packed(cx, path);
    if (format == CR_FORMAT_CRED) return cri_gaussian_save(cx, net, path);
    cr_fail(cx, CR_EARG, "only .json and .cred can hold a Gaussian network, not '%s'", path);
    return cr_fail_hint(cx, "end the name in .json or .cred");
}

/* network.c -- networks on the command line: read, named, converted. */
#include "network.h"
#include "gaussian.h"
#include "base/bytes.h"
#include "base/list.h"
#include "base/scratch.h"
#include "data/bytes/source.h"
#include "graph/files/log_linear.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* --- reading --------------------------------------------------------------------------------- */

/* The choice of --from among the formats of networks; AUTO: it is none of them. */
static cr_network_format format_asked(const cli *c)
{
    const cr_option *from = cr_option_find(cr_read_table, "from");
    char             word[32];
    if (!(c->verb->takes & VERB_READS)) return CR_FORMAT_AUTO;
    cr_options_print(from, &c->read, word, sizeof word);
    for (int f = CR_FORMAT_BIF; f <= CR_FORMAT_JSON; f++)
        if (strcmp(word, cr_network_format_name((cr_network_format)f)) == 0)
            return (cr_network_format)f;
    return CR_FORMAT_AUTO;
}

static bool is_auto(const cli *c) { return c->read.from == 0; }

/* "model": "network" in a model.json that lies in the archive as it is. */
static bool says_network(const char *bytes, size_t size)
{
    const char *at = cri_find_text(bytes, size, "\"model\""), *end = bytes + size;
    if (!at) return false;
    for (at += 7; at < end && (*at == ' ' || *at == ':'); at++) continue;
    return end - at > 9 && memcmp(at, "\"network\"", 9) == 0;
}

/* Looks at the beginning of a regular file, and says nothing if that cannot be. */
static bool looks_like_network(cli *c, const char *path)
{
    cri_source *source = NULL;
    const char *bytes;
    size_t      size;
    struct stat info;
    bool        is = false;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    if (cri_source_open(c->cx, path, &source) != CR_OK) return false;
    if (cri_source_peek(source, 4096, &bytes, &size) == CR_OK) {
        cr_network_format f = cr_network_sniff(bytes, size);
        is = f == CR_FORMAT_CRED ? says_network(bytes, size) : f != CR_FORMAT_AUTO;
    }
    cri_source_close(source);
    return is;
}

bool cli_is_network(cli *c, size_t index)
{
    const char       *path = c->args[index];
    cr_network_format f = cr_network_format_of(path);
    if (format_asked(c) == CR_FORMAT_CRED) /* models have the same ending */
        return strcmp(path, "-") == 0 || looks_like_network(c, path);
    if (format_asked(c) != CR_FORMAT_AUTO) return true;
    if (!is_auto(c)) return false;
    return (f != CR_FORMAT_AUTO && f != CR_FORMAT_CRED) || looks_like_network(c, path);
}

cr_status cli_read_network(cli *c, size_t index, cr_network_format format, cr_network **out_net)
{
    if (format == CR_FORMAT_AUTO) format = format_asked(c);
    return cr_network_read(c->cx, c->args[index], format, out_net);
}

cr_status cli_read_either(cli *c, size_t index, cr_network_format format, cr_network **out_net,
                          cr_gaussian_network **out_gaussian)
{
    if (format == CR_FORMAT_AUTO) format = format_asked(c);
    return cr_network_read_either(c->cx, c->args[index], format, out_net, out_gaussian);
}

void cli_put_names(cri_sheet *out, const char *name, const cr_variables *vs, const size_t *list,
                   size_t n)
{
    cri_sheet *names = cri_put_list(out, name);
    for (size_t i = 0; i < n; i++) cri_put_text(names, NULL, cr_variable_name(vs, list[i]));
}

/* --- convert --------------------------------------------------------------------------------- */

/* [variables] the states of a list "x=a,y=b"; of variables that are not on it, the first. */
static cr_status read_reference(cli *c, const cr_network *net, const char *list, size_t *out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(c->cx);
    char     **item = NULL, *state;
    size_t     n = 0, v;
    CR_TRY(cri_list_split(&s, list, &item, &n));
    for (size_t i = 0; i < n; i++) {
        state = strchr(item[i], '=');
        if (!state) {
            cr_fail(c->cx, CR_EARG, "--reference: '%s' should be a variable and its state",
                    item[i]);
            CR_TRY(cr_fail_hint(c->cx, "for example --reference %s=%s",
                                cr_variable_name(cr_network_variables(net), 0),
                                cr_state_name(cr_network_variables(net), 0, 0)));
        }
        *state++ = '\0';
        CR_TRY(cr_variable_find(c->cx, cr_network_variables(net), item[i], &v));
        CR_TRY(cr_state_find(c->cx, cr_network_variables(net), v, state, &out[v]));
    }
done:
    cr_scratch_end(&s);
    return st;
}

/* Puts the network of its features in the place of *net. */
static cr_status make_canonical(cli *c, const char *opt_reference, cr_network **net)
{
    cr_status   st = CR_OK;
    cr_scratch  s = cr_scratch_begin(c->cx);
    size_t     *reference = cr_scratch_bytes(&s, cr_network_size(*net), sizeof *reference);
    cr_network *features = NULL;
    CR_TRY(s.status);
    CR_TRY(read_reference(c, *net, opt_reference, reference));
    CR_TRY(cr_network_canonical(c->cx, *net, reference, &features));
    cr_network_free(c->cx, *net);
    *net = features;
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cli_convert_network(cli *c, const char *to, cr_network_format format, bool canonical,
                              const char *opt_reference)
{
    cr_status            st = CR_OK;
    cr_network          *net = NULL;
    bool                 stream = strcmp(to, "-") == 0;
    cr_gaussian_network *gaussian = NULL;
    if (format == CR_FORMAT_AUTO) format = cr_network_format_of(to);
    if (format == CR_FORMAT_AUTO) {
        cr_fail(c->cx, CR_EARG, "cannot tell the format of the network '%s' from its name", to);
        CR_TRY(cr_fail_hint(c->cx,
                            "end it in .bif, .xmlbif, .net, .uai, .cred or .json, or give --to"));
    }
    CR_TRY(cli_read_either(c, 0, CR_FORMAT_AUTO, &net, &gaussian));
    CR_TRY(cli_check_strict(c));
    if (gaussian) {
        if (canonical)
            CR_TRY(cr_fail(c->cx, CR_EARG,
                           "--canonical is of networks with states, not of a "
                           "Gaussian one"));
        CR_TRY(cli_convert_gaussian(c, gaussian, to, format));
        goto done;
    }
    if (canonical) CR_TRY(make_canonical(c, opt_reference, &net));
    CR_TRY(cr_network_write(c->cx, net, stream ? "/dev/stdout" : to, format));
done:
    cr_network_free(c->cx, net);
    cr_gaussian_network_free(c->cx, gaussian);
    return st;
}

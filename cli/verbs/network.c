/* network.c -- networks on the command line: read, converted. */
#include "network.h"
#include "base/bytes.h"
#include "base/list.h"
#include "base/scratch.h"
#include "data/bytes/source.h"
#include "data/formats/read_internal.h"
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

/* The beginning of a regular file, until it is closed; false, and nothing is said, if that cannot be. */
static bool peek_at(cli *c, const char *path, size_t want, cri_source **out, const char **out_bytes,
                    size_t *out_size)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    if (cri_source_open(c->cx, path, out) != CR_OK) return false;
    if (cri_source_peek(*out, want, out_bytes, out_size) == CR_OK) return true;
    cri_source_close(*out);
    return false;
}

static cli_network_kind look_at(cli *c, const char *path)
{
    cri_source      *source = NULL;
    const char      *bytes;
    size_t           size;
    cli_network_kind is = CLI_NO_NETWORK;
    if (!peek_at(c, path, 4096, &source, &bytes, &size)) return is;
    cr_network_format f = cr_network_sniff(bytes, size);
    const cr_model_class *class = NULL;
    if (f == CR_FORMAT_CRED) class = cri_class_of_bytes(bytes, size);
    if (f == CR_FORMAT_CRED ? cri_class_is_network(class) : f != CR_FORMAT_AUTO)
        is = cri_class_learns(class) ? CLI_LEARNED_NETWORK : CLI_GIVEN_NETWORK;
    cri_source_close(source);
    return is;
}

/* Rows of data in a file whose name ends as networks in JSON do? */
static bool holds_rows(cli *c, const char *path)
{
    cri_source *source = NULL;
    const char *bytes;
    size_t      size;
    if (!peek_at(c, path, 1 << 16, &source, &bytes, &size)) return false;
    bool rows = cri_begins_objects(bytes, size) && !cri_find_text(bytes, size, "\"network\"") &&
                !cri_find_text(bytes, size, "\"variables\"");
    cri_source_close(source);
    return rows;
}

cli_network_kind cli_find_network(cli *c, size_t index)
{
    const char       *path = c->args[index];
    cr_network_format f = cr_network_format_of(path);
    if (format_asked(c) == CR_FORMAT_CRED) /* models have the same ending */
        return strcmp(path, "-") == 0 ? CLI_GIVEN_NETWORK : look_at(c, path);
    if (format_asked(c) != CR_FORMAT_AUTO) return CLI_GIVEN_NETWORK;
    if (!is_auto(c) || (f == CR_FORMAT_JSON && holds_rows(c, path))) return CLI_NO_NETWORK;
    return f != CR_FORMAT_AUTO && f != CR_FORMAT_CRED ? CLI_GIVEN_NETWORK : look_at(c, path);
}

cr_status cli_read_network(cli *c, size_t index, cr_network_format format, cr_model **out_model,
                           cri_any_network *out)
{
    if (format == CR_FORMAT_AUTO) format = format_asked(c);
    cr_status st = cri_model_read_network(c->cx, c->args[index], format, out_model);
    if (st == CR_OK) cri_model_network(*out_model, out);
    return st;
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

/* The network of its features. */
static cr_status make_canonical(cli *c, const char *opt_reference, const cr_network *net,
                                cr_network **out)
{
    cr_status  st = CR_OK;
    cr_scratch s = cr_scratch_begin(c->cx);
    size_t    *reference = cr_scratch_bytes(&s, cr_network_size(net), sizeof *reference);
    CR_TRY(s.status);
    CR_TRY(read_reference(c, net, opt_reference, reference));
    CR_TRY(cr_network_canonical(c->cx, net, reference, out));
done:
    cr_scratch_end(&s);
    return st;
}

cr_status cli_convert_network(cli *c, const char *to, cr_network_format format, bool canonical,
                              const char *opt_reference)
{
    cr_status       st = CR_OK;
    cr_model       *m = NULL;
    cr_network     *features = NULL;
    cri_any_network any;
    CR_TRY(cli_read_network(c, 0, CR_FORMAT_AUTO, &m, &any));
    CR_TRY(cli_check_strict(c));
    CR_TRY(cri_check_network_format(c->cx, any, strcmp(c->args[0], "-") == 0 ? "stdin" : c->args[0],
                                    to, &format));
    if (canonical && (!any.methods->states || any.methods->unroll))
        CR_TRY(cr_fail(c->cx, CR_EARG,
                       "--canonical is for networks with states, not for %snetworks",
                       any.methods->word));
    if (canonical) {
        CR_TRY(make_canonical(c, opt_reference, any.net, &features));
        any.net = features;
    }
    CR_TRY(any.methods->write(c->cx, any.net, strcmp(to, "-") == 0 ? "/dev/stdout" : to, format));
done:
    cr_network_free(c->cx, features);
    cr_model_free(c->cx, m);
    return st;
}

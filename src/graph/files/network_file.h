/* network_file.h -- networks to and from files of every format.
 *   .bif  .xmlbif .bifxml .xml  .net  .uai  .cred  .json
 * each also with .gz or .zst behind it; .cred only to read.
 * A name that says nothing is no matter for reading: the first bytes tell.  UAI, .cred and
 * .json hold Bayesian and Markov networks, the others Bayesian ones; UAI loses names and remarks;
 * .cred and .json keep the parameters that tables were made from, and hold linear-Gaussian networks
 * (json_network.h). */
#ifndef CREDENCE_GRAPH_FILES_NETWORK_FILE_H
#define CREDENCE_GRAPH_FILES_NETWORK_FILE_H

#include "graph/network/gaussian_network.h"
#include "graph/network/network.h"

typedef enum cr_network_format {
    CR_FORMAT_AUTO, /* by the name, else by the first bytes */
    CR_FORMAT_BIF,
    CR_FORMAT_XMLBIF,
    CR_FORMAT_NET,
    CR_FORMAT_UAI,
    CR_FORMAT_CRED,
    CR_FORMAT_JSON
} cr_network_format;

/* "bif", "xmlbif", "net", "uai", "cred", "json"; "auto". */
CR_API const char *cr_network_format_name(cr_network_format format);
/* The format that the end of a file name stands for; CR_FORMAT_AUTO: of none. */
CR_API cr_network_format cr_network_format_of(const char *path);
/* The format that the first bytes look like; CR_FORMAT_AUTO: none. */
CR_API cr_network_format cr_network_sniff(const void *bytes, size_t size);

/* Reads a network, also gzip or zstd, also from standard input ("-").  Fails with CR_EIO, CR_EDATA
 * (file, line, column, what is wrong there), CR_ENOMEM, or CR_EARG when the format cannot be told.
 */
CR_API cr_status cr_network_read(cr_ctx *cx, const char *path, cr_network_format format,
                                 cr_network **out_net);
/* The same where it may be a Gaussian network: one of the two is set, the other NULL. */
CR_API cr_status cr_network_read_either(cr_ctx *cx, const char *path, cr_network_format format,
                                        cr_network **out_net, cr_gaussian_network **out_gaussian);
/* The same from bytes that are not compressed; `source` is their name in messages. */
CR_API cr_status cr_network_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                  cr_network_format format, cr_network **out_net);
/* Writes a network, atomically; CR_FORMAT_AUTO: by the name.  Compressed where the name ends in .gz
 * or .zst. */
CR_API cr_status cr_network_write(cr_ctx *cx, const cr_network *net, const char *path,
                                  cr_network_format format);
/* The same of a Gaussian network, which .json and .cred hold; others are CR_EARG. */
CR_API cr_status cr_gaussian_network_write(cr_ctx *cx, const cr_gaussian_network *net,
                                           const char *path, cr_network_format format);

#endif

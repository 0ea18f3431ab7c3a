/* network_file.h -- networks to and from files of every format.
 *   .bif  .xmlbif .bifxml .xml  .net  .uai  .cred
 * each also with .gz or .zst behind it; .cred only to read.
 * A name that says nothing is no matter for reading: the first bytes tell.  UAI and .cred hold
 * Bayesian and Markov networks, the others Bayesian ones; UAI loses names and remarks. */
#ifndef CREDENCE_MODELS_GRAPH_NETWORK_FILE_H
#define CREDENCE_MODELS_GRAPH_NETWORK_FILE_H

#include "network.h"

typedef enum cr_network_format {
    CR_FORMAT_AUTO, /* by the name, else by the first bytes */
    CR_FORMAT_BIF,
    CR_FORMAT_XMLBIF,
    CR_FORMAT_NET,
    CR_FORMAT_UAI,
    CR_FORMAT_CRED
} cr_network_format;

/* "bif", "xmlbif", "net", "uai", "cred"; "auto". */
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
/* The same from bytes that are not compressed; `source` is their name in messages. */
CR_API cr_status cr_network_parse(cr_ctx *cx, const char *source, const void *bytes, size_t size,
                                  cr_network_format format, cr_network **out_net);
/* Writes a network, atomically; CR_FORMAT_AUTO: by the name.  Compressed where the name ends in .gz
 * or .zst. */
CR_API cr_status cr_network_write(cr_ctx *cx, const cr_network *net, const char *path,
                                  cr_network_format format);

#endif

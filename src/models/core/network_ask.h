/* network_ask.h -- models that are networks, or have learned one, asked in words, whichever kind of network it is.
 *     cr_model_load_network(cx, "burglary.bif", CR_FORMAT_AUTO, &net);
 *     cr_model_query(cx, net, "P(burglary | john=yes)", NULL, NULL, &json);
 * Questions are those of query.h and gaussian_query.h.  Evidence besides that of the question is JSON,
 * {"mary": "yes"}, as cr_findings_read takes it. */
#ifndef CREDENCE_MODELS_CORE_NETWORK_ASK_H
#define CREDENCE_MODELS_CORE_NETWORK_ASK_H

#include "graph/files/network_file.h"
#include "graph/query/query.h"
#include "model.h"

/* clang-format off */
/* How an answer is computed (cr_query_options), as options. */
#define CR_METHOD_OPTIONS(X)                                                                       \
    X(choice, method,   "auto", CR_QUERY_METHODS,                                                  \
      "exact: elimination (ve), junction tree (jt) or enumeration; or an approximation; auto: exact if it fits into memory and --budget", "bp")                                              \
    X(real,   budget,   "60", ">=0",                                                               \
      "auto: seconds that an exact answer may take by estimate, or else an approximation by the clock (at least 5); the search for argmax(*) is limited in proportion", "10")              \
    CR_APPROXIMATE_OPTIONS(X)
/* clang-format on */
CR_OPTIONS_STRUCT(cr_method_options, CR_METHOD_OPTIONS);
/* The usual way to compute an answer, with what was asked for. */
CR_API cr_query_options cr_query_settings(const cr_method_options *method, uint64_t seed);

/* clang-format off */
#define CR_ASK_OPTIONS(X)                                                                          \
    X(choice, unit, "bits", "bits|nats", "unit of H and I", "nats")                                \
    X(count,  seed, "0", "", "random seed; the same seed gives the same bits", "7")                \
    CR_METHOD_OPTIONS(X)
/* clang-format on */
CR_OPTIONS_STRUCT(cr_ask_options, CR_ASK_OPTIONS);
/* The table of these options. */
extern CR_API const cr_option cr_ask_table[];

/* Reads a network of any format, or a fitted model that has one; "-": standard input.  A network as it was
 * given is a model for the functions of this header, for cr_plot_model_network and cr_model_free alone.  Fails
 * as cr_network_read does. */
CR_API cr_status cr_model_load_network(cr_ctx *cx, const char *path, cr_network_format format,
                                       cr_model **out_model);
/* Writes the network of a model, atomically; CR_FORMAT_AUTO: by the name.  CR_EARG for a format that does not
 * hold such networks; CR_EUNSUPPORTED, here as below, for a model without a network. */
CR_API cr_status cr_model_write_network(cr_ctx *cx, const cr_model *model, const char *path,
                                        cr_network_format format);
/* The variables of its network, which the model owns; NULL where it has none.  opt_states: whether they have
 * states, or else values. */
CR_API const cr_variables *cr_model_variables(const cr_model *model, bool *opt_states);
/* What the network is made of, as JSON: what credence describe prints.  Freed with
 * cr_free(cx, json, strlen(json) + 1, 1), here as below. */
CR_API cr_status cr_model_describe_network(cr_ctx *cx, const cr_model *model, char **out_json);

/* Answers a question: an object of JSON, as an item of the results of credence query.  Fails as cr_query
 * does. */
CR_API cr_status cr_model_query(cr_ctx *cx, const cr_model *model, const char *question,
                                const char *opt_evidence, const cr_ask_options *opt_o,
                                char **out_json);

/* The posteriors of rows of evidence. */
typedef struct cr_posteriors {
    size_t  rows, n, width;
    size_t *variable;     /* [n] which they are of                                             */
    double *log_evidence; /* [rows] log P(row); NaN where the method has none                  */
    double *value;        /* [rows x width] of each variable in turn the probabilities of its
                                 states, or mean and sd; NaN in a row that is impossible            */
    double *se;           /* [rows] the largest standard error of a row; NaN where there is none */
    bool   *possible;     /* [rows] there are posteriors                                        */
    const char *method;   /* what answered all rows                                             */
    bool        exact;
} cr_posteriors; /* all zeros: nothing to free */

/* The posteriors of the variables of a list of names, NULL: of all that are not known in every row.  Columns
 * of the table are evidence by their names; levels are states.  Evidence of all rows besides is JSON.  Fails
 * with CR_EDATA where no column names a variable, or a level is no state; else as questions do. */
CR_API cr_status cr_model_infer(cr_ctx *cx, const cr_model *model, const cr_table *table,
                                const char *opt_targets, const char *opt_evidence,
                                const cr_ask_options *opt_o, cr_posteriors *out);
/* Frees what they hold and leaves none. */
CR_API void cr_posteriors_free(cr_ctx *cx, cr_posteriors *p);

#endif

/* network.c -- networks as they are given, in a file of any format: classes without a fit, whose state
 * is the network itself.  Classes that learn a network have the same face (core/faces.h). */
#include "models/core/class.h"
#include "graph/network/dynamic_network.h"
#include "graph/query/methods.h"

static const cr_option  options[] = { CR_OPTION_LAST };
static const cri_member record[] = { CRI_RECORD_END };

static const void *network_of(const void *state) { return *(void *const *)state; }

static void release(cr_ctx *cx, void *state) { cr_network_free(cx, *(void **)state); }

static void release_gaussian(cr_ctx *cx, void *state)
{
    cr_gaussian_network_free(cx, *(void **)state);
}

static void release_dynamic(cr_ctx *cx, void *state) { cri_dynamic_free(cx, *(void **)state); }

static const cri_network_face face = { .methods = &cri_states_methods, .network = network_of };
static const cri_network_face gaussian_face = { .methods = &cri_gaussian_methods,
                                                .network = network_of };
static const cri_network_face dynamic_face = { .methods = &cri_dynamic_methods,
                                               .network = network_of };

const cr_model_class cri_class_network = {
    .name = "network",
    .summary = "a Bayesian or Markov network of variables with states",
    .formulas = "p(x) = prod_v p(x_v | x_parents(v)),   or   prod_t f_t(x_scope(t)) / Z",
    .reference = "Koller & Friedman (2009), Probabilistic Graphical Models, ch. 3-4",
    .tasks = CR_TASK_NETWORK,
    .options = options,
    .options_size = sizeof(void *),
    .network = &face,
    .state = record,
    .state_size = sizeof(void *),
    .release = release,
};

const cr_model_class cri_class_gaussian_network = {
    .name = "gaussian-network",
    .summary = "a linear-Gaussian network",
    .formulas = "x_v | x_parents(v) ~ N(a + w' x_parents(v), s)",
    .reference = "Koller & Friedman (2009), Probabilistic Graphical Models, ch. 7",
    .tasks = CR_TASK_NETWORK,
    .options = options,
    .options_size = sizeof(void *),
    .network = &gaussian_face,
    .state = record,
    .state_size = sizeof(void *),
    .release = release_gaussian,
};

const cr_model_class cri_class_dynamic_network = {
    .name = "dynamic-network",
    .summary = "a Bayesian network of two slices that repeats over time",
    .formulas = "p(x_1, ..., x_T) = p(x_1) prod_(t>1) p(x_t | x_(t-1))",
    .reference = "Murphy (2002), Dynamic Bayesian Networks, ch. 2-3",
    .tasks = CR_TASK_NETWORK,
    .options = options,
    .options_size = sizeof(void *),
    .network = &dynamic_face,
    .state = record,
    .state_size = sizeof(void *),
    .release = release_dynamic,
};

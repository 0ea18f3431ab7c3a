/* specs.h -- models named on the command line with settings of their own:
 * ridge:lambda=10,basis=poly:2. */
#ifndef CREDENCE_CLI_VERBS_SPECS_H
#define CREDENCE_CLI_VERBS_SPECS_H

#include "base/scratch.h"
#include "../cli.h"
#include "study/cross_validate.h"

/* Reads the arguments first .. last-1, in the arena.  Each model gets those options of the line
 * that it has, then its own.  Fails with CR_EARG for a model or setting that is not known, and for
 * an option that none of the models has. */
cr_status specs_read(cli *c, cr_scratch *s, size_t first, size_t last, cr_model_spec **out_specs);

#endif

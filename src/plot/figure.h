/* figure.h -- figures of models. */
#include "../models/model.h"
/* Draws. */
CR_API cr_status cr_plot_model(cr_ctx *cx, const cr_model *model, const cr_table *table, double level, const char *path);

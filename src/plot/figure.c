#include "figure.h"
cr_status cr_plot_model(cr_ctx *cx, const cr_model *model, const cr_table *table, double level, const char *path)
{ (void)model,(void)table,(void)level,(void)path; return cr_fail(cx, CR_EUNSUPPORTED, "x"); }

/* credence/graph.h -- networks: factors, graphs, files, exact and approximate answers, questions
 * written as formulas, pictures of networks and networks of pictures. */
#ifndef CREDENCE_GRAPH_H
#define CREDENCE_GRAPH_H

#include "../credence.h"

#include "../../src/data/image/image.h"

#include "../../src/graph/factor/variable.h"
#include "../../src/graph/factor/factor.h"
#include "../../src/graph/network/network.h"
#include "../../src/graph/network/cpd.h"
#include "../../src/graph/network/structure.h"
#include "../../src/graph/network/separation.h"
#include "../../src/graph/exact/chordal.h"
#include "../../src/graph/exact/elimination.h"
#include "../../src/graph/network/evidence.h"
#include "../../src/graph/exact/bucket.h"
#include "../../src/graph/best/best_search.h"
#include "../../src/graph/exact/junction.h"
#include "../../src/graph/exact/enumerate.h"
#include "../../src/graph/approximate/approximate.h"
#include "../../src/graph/network/gaussian_network.h"
#include "../../src/graph/files/uai.h"
#include "../../src/graph/files/uai_solution.h"
#include "../../src/graph/files/bif.h"
#include "../../src/graph/files/xmlbif.h"
#include "../../src/graph/files/net.h"
#include "../../src/graph/files/json_network.h"
#include "../../src/graph/files/log_linear.h"
#include "../../src/graph/files/network_file.h"
#include "../../src/graph/query/query.h"
#include "../../src/graph/query/gaussian_query.h"
#include "../../src/graph/image/grid.h"

#include "../../src/models/core/network_ask.h"

#include "../../src/plot/network_figure.h"

#endif

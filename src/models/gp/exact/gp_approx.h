/* gp_approx.h -- the names of the approximations of a Gaussian process.  (Internal header.) */
#ifndef CREDENCE_MODELS_GP_EXACT_GP_APPROX_H
#define CREDENCE_MODELS_GP_EXACT_GP_APPROX_H

typedef enum cri_gp_approx {
    CRI_GP_AUTO,
    CRI_GP_EXACT,
    CRI_GP_SOR,
    CRI_GP_DTC,
    CRI_GP_FITC,
    CRI_GP_VFE,
    CRI_GP_SVGP,
    CRI_GP_NYSTROM,
    CRI_GP_RFF
} cri_gp_approx;

#endif

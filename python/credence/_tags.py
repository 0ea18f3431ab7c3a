"""What scikit-learn asks an estimator about itself, in the three ways it has asked: a type, a dict of
tags (before 1.6), and a Tags object (from 1.6 on).  Only scikit-learn calls these, so it is loaded."""


class Tags:
    _estimator_type = None  # "regressor", "classifier", "clusterer", "DensityEstimator"; None for coordinates

    def _has_target(self):
        return self._estimator_type in ("regressor", "classifier")

    def _takes_missing(self):
        policy = getattr(self, "missing", "error")
        return self._keeps_missing if policy == "auto" else policy != "error"

    def _more_tags(self):
        kinds = {} if self._takes_fractions else {"X_types": ["2darray", "categorical"]}   # counts, levels
        return {**kinds, "requires_y": self._has_target(), "allow_nan": self._takes_missing(),
                "requires_positive_X": not self._takes_numbers,
                "requires_positive_y": self._estimator_type == "regressor" and not self._takes_negative}

    def _get_tags(self):
        from sklearn.utils._tags import _DEFAULT_TAGS
        return {**_DEFAULT_TAGS, **self._more_tags()}

    def __sklearn_tags__(self):
        from sklearn import utils
        kind, coordinates = self._estimator_type, hasattr(self, "transform")
        return utils.Tags(
            estimator_type="density_estimator" if kind == "DensityEstimator" else kind,
            target_tags=utils.TargetTags(required=self._has_target(),
                                         positive_only=self._more_tags()["requires_positive_y"]),
            input_tags=utils.InputTags(allow_nan=self._takes_missing(), sparse=kind != "clusterer",
                                       categorical=not self._takes_fractions,
                                       positive_only=not self._takes_numbers),
            transformer_tags=utils.TransformerTags() if coordinates else None,
            regressor_tags=utils.RegressorTags() if kind == "regressor" else None,
            classifier_tags=utils.ClassifierTags() if kind == "classifier" else None)

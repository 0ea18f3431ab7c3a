"""What scikit-learn asks an estimator about itself, in the three ways it has asked: a type, a dict of
tags (before 1.6), and a Tags object (from 1.6 on).  Only scikit-learn calls these, so it is loaded."""


class Tags:
    _estimator_type = None  # "regressor" or "classifier"

    def _takes_missing(self):
        policy = getattr(self, "missing", "error")
        return self._keeps_missing if policy == "auto" else policy != "error"

    def _more_tags(self):
        return {"requires_y": True, "allow_nan": self._takes_missing()}

    def _get_tags(self):
        from sklearn.utils._tags import _DEFAULT_TAGS
        return {**_DEFAULT_TAGS, **self._more_tags()}

    def __sklearn_tags__(self):
        from sklearn import utils
        regressor = self._estimator_type == "regressor"
        return utils.Tags(
            estimator_type=self._estimator_type,
            target_tags=utils.TargetTags(required=True),
            input_tags=utils.InputTags(allow_nan=self._takes_missing()),
            transformer_tags=utils.TransformerTags() if hasattr(self, "transform") else None,
            regressor_tags=utils.RegressorTags() if regressor else None,
            classifier_tags=None if regressor else utils.ClassifierTags())

"""Estimators whose models are functions with noise on top: the function itself, its draws and its slopes."""
from ._fitting import draw_count, random_seed


class Function:
    """Beside predictions of observations, what is known of the function without their noise."""

    def predict_function(self, X, return_std=False, return_cov=False, prior=False):
        """The mean of the function at every row, without observation noise; with return_std=True also its standard
        deviation, with return_cov=True its covariance between all rows.

        prior=True uses the prior, before any data, at the hyper-parameters of the model."""
        if return_std and return_cov:
            raise ValueError("return_std and return_cov exclude each other: the diagonal of the covariance "
                             "holds the squares of the standard deviations")
        mean, sd, covariance = self._ask(X, lambda model, table: model.function(table, return_std, return_cov,
                                                                                prior))
        return (mean, sd) if return_std else (mean, covariance) if return_cov else mean

    def sample_functions(self, X, n_samples=1, random_state=None, prior=False):
        """Joint draws of the function at the rows, without noise: an array (n_rows, n_samples)."""
        count = draw_count(n_samples)
        self._fitted()
        seed = random_seed(random_state, self.seed)
        return self._ask(X, lambda model, table: model.sample_functions(table, prior, count, seed))

    def inducing_values(self):
        """(Z, mean, covariance): the inducing inputs or landmarks of a sparse process, in the units of the data,
        and the distribution of its function there, q(u)."""
        return self._fitted().inducing()

    def predict_slopes(self, X):
        """The gradient of the predictive mean at every row, one column for each numeric feature."""
        return self._ask(X, lambda model, table: model.slopes(table))

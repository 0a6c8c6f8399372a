"""The probability of each class given the data: the E-step of all latent-class models."""

import numpy as np

from lehner.core.arrays import Floats


def class_posterior(log_joint: Floats, axis: int = -1) -> tuple[Floats, Floats]:
    """Normalise the joint probabilities of the data with each class.

    Parameters
    ----------
    log_joint : ndarray of float
        Logarithms; minus infinity where a class is impossible, but not for all classes.
    axis : int
        The axis of the classes.

    Returns
    -------
    probability : ndarray of float
        Probability of each class, of the same shape.
    log_evidence : ndarray of float
        Logarithm of the probability of the data; the axis of the classes is removed.

    Examples
    --------
    >>> log_joint = [[np.log(0.1), np.log(0.3)], [np.log(0.2), -np.inf]]
    >>> probability, log_evidence = class_posterior(np.array(log_joint))
    >>> probability.round(3).tolist(), np.exp(log_evidence).round(3).tolist()
    ([[0.25, 0.75], [1.0, 0.0]], [0.4, 0.2])
    """
    top = log_joint.max(axis=axis, keepdims=True)
    joint = log_joint - top
    np.exp(joint, out=joint)
    total = joint.sum(axis=axis, keepdims=True)
    joint /= total
    return joint, np.squeeze(np.log(total) + top, axis=axis)

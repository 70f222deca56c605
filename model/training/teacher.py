"""A linear classifier of n-grams, which labels text that nobody has labelled.

Naive-Bayes-weighted logistic regression over binary one- to three-word features (Wang and Manning 2012, "Baselines and
Bigrams"). On reviews it is more accurate than a small Transformer trained on the labelled part alone; what it says
about the unlabelled part, and about single sentences, the Transformer then learns from.
"""

from typing import Any

import numpy as np
from jaxtyping import Float32

from model.errors import InputError

WORDS = r"\w+|[^\w\s]"


class Teacher:
    """One regression per label, over features scaled by their log-count ratios.

    Needs scikit-learn (in requirements-dev.txt; the app does not); InputError where it is not installed.
    """

    def __init__(self, texts: list[str], labels: list[int], count: int) -> None:
        try:
            from sklearn.feature_extraction.text import CountVectorizer
            from sklearn.linear_model import LogisticRegression
        except ImportError:
            raise InputError("Learning from unlabelled text needs scikit-learn: pip install scikit-learn.") from None
        self.vectorizer = CountVectorizer(
            binary=True, ngram_range=(1, 3), token_pattern=WORDS, min_df=2, dtype=np.float32
        )
        features, truth = self.vectorizer.fit_transform(texts), np.array(labels)
        self.ratios = [log_count_ratio(features, truth == label) for label in range(count)]
        self.regressions = [
            LogisticRegression(C=0.1, solver="liblinear", dual=True, max_iter=300, random_state=0).fit(
                features.multiply(ratio).tocsr(), truth == label
            )
            for label, ratio in enumerate(self.ratios)
        ]

    def evidence(self, texts: list[str]) -> Float32[np.ndarray, "text label"]:
        """The log-odds of every label given a text's n-grams, without the prior: they add up over sentences."""
        features = self.vectorizer.transform(texts)
        columns = [
            features.multiply(ratio).tocsr() @ regression.coef_[0]
            for ratio, regression in zip(self.ratios, self.regressions, strict=True)
        ]
        return np.stack(columns, axis=1).astype(np.float32)


def log_count_ratio(features: Any, chosen: np.ndarray) -> Float32[np.ndarray, "feature"]:
    """log of each feature's share in the chosen texts over its share in the others, with one added to each count."""
    inside = np.asarray(features[chosen].sum(axis=0)).ravel() + 1
    outside = np.asarray(features[~chosen].sum(axis=0)).ravel() + 1
    return np.log((inside / inside.sum()) / (outside / outside.sum())).astype(np.float32)


def probabilities(evidence: Float32[np.ndarray, "*text label"]) -> Float32[np.ndarray, "*text label"]:
    """Each label's probability from one-against-the-rest log-odds, made to sum to 1."""
    odds = 1 / (1 + np.exp(-evidence.clip(-30, 30)))
    return (odds / odds.sum(axis=-1, keepdims=True)).astype(np.float32)

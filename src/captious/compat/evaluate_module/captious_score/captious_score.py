"""Module for the package ``evaluate``, loaded without a network:
``evaluate.load(captious.compat.evaluate_module())``.
"""

import datasets
import evaluate

import captious

_DESCRIPTION = "Scores of captions by captious: BLEU, METEOR, ROUGE-L, CIDEr-D, SPICE and others."
_INPUTS = """
predictions: captions, one per image.
references: for each image a list of captions.
metrics: names or a group, as captious.score takes them ("lexical" by default).
"""


class CaptiousScore(evaluate.Metric):  # type: ignore[misc]
    """Metric of the package evaluate."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=[
                datasets.Features(
                    {
                        "predictions": datasets.Value("string"),
                        "references": datasets.Sequence(datasets.Value("string")),
                    }
                ),
                datasets.Features(
                    {"predictions": datasets.Value("string"), "references": datasets.Value("string")}
                ),
            ],
        )

    def _compute(self, predictions, references, metrics="lexical", tokenizer=None, **options):  # type: ignore[no-untyped-def]
        return captious.compute(
            predictions=list(predictions),
            references=[one if isinstance(one, str) else list(one) for one in references],
            metrics=metrics,
            tokenizer=tokenizer,
            **options,
        )

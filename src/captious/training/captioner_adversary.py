"""Evaluator of a conditional GAN (Dai et al. 2017): is this a human caption of this image?

The network is a critic (:mod:`captious.critic.critic_network`) that sees the image. It learns from human
captions of an image, samples of the captioner, and human captions of other images. Its probability is the
captioner's reward.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

from captious.core.ragged import IntArray
from captious.critic.critic_network import CriticShape, build
from captious.generate.captioner.captioners import Seen, without_gradients
from captious.generate.captioner.subword_units import END
from captious.generate.network_files import optimizer_state, restore_optimizer
from captious.training.captioner_examples import CaptionerExamples

_PREFIX = "adversary."


class Adversary:
    """A critic in training. Units of captions are its words: the end, unit 0, is also its padding."""

    def __init__(
        self, examples: CaptionerExamples, units: int, seed: int, *, hidden: int = 128, rate: float = 1e-3
    ) -> None:
        self.examples = examples
        shape = CriticShape(("image",), "cbp", hidden=hidden, sketch=1024)
        self.model = build(shape, units, hidden, examples.views.images.width, seed)
        self.model.scale.fill_(float(examples.views.vector.square().mean().sqrt()) or 1.0)
        self.optimizer = torch.optim.Adam(self.model.parameters(), rate)

    def _log_odds(self, seen: Seen, units: Tensor) -> Tensor:
        """Return the log-odds that captions are human, and of these images."""
        lengths = (units != END).int().cumprod(1).sum(1).clamp(min=1)
        logits = self.model(self.model.encode(units, lengths), [self.model.see(seen.vector)])
        odds: Tensor = logits[:, 1] - logits[:, 0]
        return odds

    @without_gradients
    def reward(self, seen: Seen, units: Tensor) -> Tensor:
        """Return the probability that each caption is human, and of its image."""
        return torch.sigmoid(self._log_odds(seen, units))

    def learn(self, rows: IntArray, seen: Seen, samples: Tensor, draw: torch.Generator) -> float:
        """Make one step on a human caption, a sample, and another image's caption of each image."""
        others = torch.randint(0, len(self.examples.ids) - 1, (len(rows),), generator=draw).numpy()
        others = others + (others >= rows)
        sides = [
            (self._human(rows, draw), 1.0, 1.0),
            (samples, 0.0, 0.5),
            (self._human(others, draw), 0.0, 0.5),
        ]
        loss = torch.zeros(())
        for units, label, weight in sides:
            odds = self._log_odds(seen, units)
            loss = loss + weight * functional.binary_cross_entropy_with_logits(
                odds, torch.full_like(odds, label)
            )
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return float(loss.detach()) / 2

    def _human(self, images: IntArray, draw: torch.Generator) -> Tensor:
        """Draw a human caption of each image."""
        first, last = self.examples.first[images], self.examples.first[images + 1]
        drawn = torch.randint(0, 1 << 30, (len(images),), generator=draw).numpy()
        return self.examples.batch(first + drawn % (last - first))[1]

    def state(self) -> dict[str, Tensor]:
        """Return weights and optimizer, for a checkpoint of the captioner's training."""
        parts = {**self.model.state_dict(), **optimizer_state(self.optimizer)}
        return {_PREFIX + name: value for name, value in parts.items()}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Continue from :meth:`state`."""
        own = {name.removeprefix(_PREFIX): value for name, value in state.items() if name.startswith(_PREFIX)}
        weights = {name: value for name, value in own.items() if not name.startswith("optimizer.")}
        self.model.load_state_dict(weights)
        restore_optimizer(self.optimizer, own)

"""Compact bilinear pooling against the outer product itself."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from captious.critic.critic_network import CompactBilinear, CountSketch  # noqa: E402


@pytest.mark.parametrize(("first", "second", "size"), [(3, 5, 16), (4, 4, 7), (6, 2, 2)])
def test_it_is_a_count_sketch_of_the_outer_product(first: int, second: int, size: int) -> None:
    """The place of a product is the sum of its factors' places, and its sign is the product of their signs."""
    torch.manual_seed(1)
    pool = CompactBilinear(first, second, size, seed=3)
    a, b = torch.randn(2, first), torch.randn(2, second)
    expected = torch.zeros(2, size)
    for i in range(first):
        for j in range(second):
            place = (int(pool.first.place[i]) + int(pool.second.place[j])) % size
            expected[:, place] += pool.first.sign[i] * pool.second.sign[j] * a[:, i] * b[:, j]
    assert torch.allclose(pool(a, b), expected, atol=1e-5)


def test_products_of_sketches_are_those_of_outer_products_on_average() -> None:
    """⟨cbp(a, b), cbp(c, d)⟩ estimates ⟨a, c⟩⟨b, d⟩ without bias, and better with more numbers."""
    torch.manual_seed(2)
    a, b, c, d = (torch.randn(1, width) for width in (4, 6, 4, 6))
    exact = float((a @ c.T) * (b @ d.T))
    spread = {}
    for size in (16, 256):
        found = []
        for seed in range(300):
            pool = CompactBilinear(4, 6, size, seed)
            found.append(float(pool(a, b) @ pool(c, d).T))
        values = torch.tensor(found)
        spread[size] = float(values.std())
        assert abs(float(values.mean()) - exact) < 4 * spread[size] / 300**0.5
    assert spread[256] < spread[16] / 2


def test_a_linear_classifier_of_the_sketch_is_a_bilinear_form() -> None:
    torch.manual_seed(3)
    pool = CompactBilinear(5, 4, 8, seed=1)
    a, b, weight = torch.randn(3, 5), torch.randn(3, 4), torch.randn(8)
    assert torch.allclose(pool(a, b) @ weight, ((a @ pool.form(weight)) * b).sum(1), atol=1e-5)


def test_a_sketch_keeps_sums_and_gradients() -> None:
    sketch = CountSketch(6, 3, torch.Generator().manual_seed(1))
    vector = torch.randn(2, 6, requires_grad=True)
    found = sketch(vector)
    assert torch.allclose(found.sum(1), (vector * sketch.sign).sum(1), atol=1e-6)
    found.sum().backward()
    assert vector.grad is not None and torch.equal(vector.grad, sketch.sign.expand(2, 6))
    assert set(sketch.sign.tolist()) <= {1.0, -1.0} and int(sketch.place.max()) < 3


def test_the_same_seed_gives_the_same_sketch() -> None:
    a, b, c = (CompactBilinear(50, 50, 64, seed) for seed in (1, 1, 2))
    assert torch.equal(a.first.place, b.first.place) and torch.equal(a.second.sign, b.second.sign)
    assert not torch.equal(a.first.place, c.first.place) and not torch.equal(a.first.place, a.second.place)

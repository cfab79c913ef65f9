"""CHAIR through the public interface: the plural of every class, and the demo with known objects."""

from __future__ import annotations

import pytest

import captious
from captious.data import demo_path

#: Plural → class, for each of COCO's classes, and everyday words for them.
PLURALS = {
    "people": "person",
    "men": "person",
    "women": "person",
    "children": "person",
    "boys": "person",
    "ladies": "person",
    "babies": "person",
    "firemen": "person",
    "policemen": "person",
    "waitresses": "person",
    "bicycles": "bicycle",
    "bikes": "bicycle",
    "cars": "car",
    "taxis": "car",
    "motorcycles": "motorcycle",
    "airplanes": "airplane",
    "planes": "airplane",
    "buses": "bus",
    "busses": "bus",
    "trains": "train",
    "trucks": "truck",
    "boats": "boat",
    "traffic lights": "traffic light",
    "fire hydrants": "fire hydrant",
    "stop signs": "stop sign",
    "parking meters": "parking meter",
    "benches": "bench",
    "birds": "bird",
    "geese": "bird",
    "cats": "cat",
    "dogs": "dog",
    "puppies": "dog",
    "horses": "horse",
    "ponies": "horse",
    "sheep": "sheep",
    "cows": "cow",
    "oxen": "cow",
    "calves": "cow",
    "elephants": "elephant",
    "bears": "bear",
    "zebras": "zebra",
    "giraffes": "giraffe",
    "backpacks": "backpack",
    "umbrellas": "umbrella",
    "handbags": "handbag",
    "ties": "tie",
    "suitcases": "suitcase",
    "frisbees": "frisbee",
    "skis": "skis",
    "snowboards": "snowboard",
    "sports balls": "sports ball",
    "kites": "kite",
    "baseball bats": "baseball bat",
    "baseball gloves": "baseball glove",
    "skateboards": "skateboard",
    "surfboards": "surfboard",
    "tennis rackets": "tennis racket",
    "bottles": "bottle",
    "wine glasses": "wine glass",
    "cups": "cup",
    "forks": "fork",
    "knives": "knife",
    "spoons": "spoon",
    "bowls": "bowl",
    "bananas": "banana",
    "apples": "apple",
    "sandwiches": "sandwich",
    "oranges": "orange",
    "carrots": "carrot",
    "hot dogs": "hot dog",
    "pizzas": "pizza",
    "donuts": "donut",
    "cakes": "cake",
    "chairs": "chair",
    "couches": "couch",
    "sofas": "couch",
    "potted plants": "potted plant",
    "beds": "bed",
    "dining tables": "dining table",
    "toilets": "toilet",
    "tvs": "tv",
    "laptops": "laptop",
    "computer mice": "mouse",
    "remotes": "remote",
    "keyboards": "keyboard",
    "cell phones": "cell phone",
    "microwaves": "microwave",
    "ovens": "oven",
    "toasters": "toaster",
    "sinks": "sink",
    "refrigerators": "refrigerator",
    "fridges": "refrigerator",
    "books": "book",
    "clocks": "clock",
    "vases": "vase",
    "scissors": "scissors",
    "teddy bears": "teddy bear",
    "hair dryers": "hair drier",
    "toothbrushes": "toothbrush",
}


@pytest.mark.parametrize("plural", PLURALS)
def test_a_plural_names_its_class(plural: str) -> None:
    caption = f"there are two {plural} here"
    corpus = captious.load({"has": ["nothing"], "lacks": ["nothing"]}, {"has": caption, "lacks": caption})
    found = captious.score(corpus, ["CHAIRi", "CHAIRs"], objects={"has": [PLURALS[plural]], "lacks": []})
    assert found["CHAIRi"].per_image == {"has": 0.0, "lacks": 1.0}
    assert found["CHAIRs"].per_image == {"has": 0.0, "lacks": 1.0}


#: Images of the demo: objects that the poor system invents, and all that it names, counted by hand.
COUNTED = {
    "1001": (3, 3),
    "1002": (3, 4),
    "1003": (2, 2),
    "1004": (3, 3),
    "1005": (2, 3),
    "1006": (2, 2),
    "1007": (1, 3),
    "1008": (2, 2),
    "1009": (2, 2),
    "1010": (1, 4),
    "1011": (1, 4),
    "1012": (3, 3),
    "1014": (3, 3),
    "1015": (1, 2),
}


def test_the_demo_as_a_person_counts() -> None:
    corpus = captious.load(demo_path("references"), demo_path("poor"))
    found = captious.score(corpus, ["CHAIRi", "CHAIRs"], objects=demo_path("objects"))
    for image, (wrong, named) in COUNTED.items():
        assert found["CHAIRi"].per_image[image] == pytest.approx(wrong / named), image
        assert found["CHAIRs"].per_image[image] == 1.0


def test_the_safe_systems_make_up_little() -> None:
    """The good system names only objects in the images. The generic one names two tables too many."""
    for system, captions, images in (("good", 0, []), ("generic", 2, ["1018", "1041"])):
        corpus = captious.load(demo_path("references"), demo_path(system))
        found = captious.score(corpus, "CHAIRs", objects=demo_path("objects"))["CHAIRs"]
        assert found.value == pytest.approx(captions / 60)
        assert [image for image, value in found.per_image.items() if value] == images

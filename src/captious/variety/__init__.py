"""How diverse captions are: the set of captions of each image (:mod:`~captious.variety.sets`), and whole corpora
(:mod:`~captious.variety.corpus`)."""

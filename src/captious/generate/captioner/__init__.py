"""A small captioner: from the objects of an image (or features of its regions) to captions, trained here.

PyTorch is needed (``pip install 'captious[train]'``), and imported where it is used.
"""

"""A small captioner: from the objects (or region features) of an image to captions.

It needs PyTorch (``pip install 'captious[train]'``), which is imported on first use.
"""

"""A critic that learns to tell people's captions from a system's (Cui et al. 2018).

PyTorch is needed (``pip install 'captious[train]'``), and imported where it is used.
"""

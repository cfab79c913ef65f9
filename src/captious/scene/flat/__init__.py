"""Scenes of whole corpora in flat arrays: what :mod:`captious.scene` defines on objects, as kernels.

The modules follow the steps one by one (codes, collapse, repairs, rules; then merge and match), and give what the objects
give, in the same order.
"""

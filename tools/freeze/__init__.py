"""Freeze every number that captious produces, and compare two frozen folders byte for byte.

    python -m tools.freeze OUT_DIR [--data ../shared/data] [--only NAME ...] [--quick]
    python -m tools.freeze --compare OLD_DIR NEW_DIR [--relaxed 2e-6]

Run it before and after a change of structure. Measures that use the sentence encoder may change in the last
digits of single precision, so their files are in ``relaxed/``. Everything else must be identical.

Only public names are used: ``captious.*``, the command line, and the measures listed by ``captious metrics``.

Not frozen: messages and help texts, HTML reports and figures (their wording and layout change), the bytes of
``.scores`` and ``.prepared`` files (the numbers read back from them are frozen), the Ray, Spark and Dask
engines, and the training of critics and composite metrics. A tiny captioner and an LSTM are trained and
frozen. With one thread and a seed, PyTorch repeats itself on one machine, but not elsewhere.
"""

"""Damaged files for every reader.

``python -m tests.fuzz`` damages a sound file of each format 2,000 times and reads the results. A reader
must return content or raise one `InputError`. Any other exception, a crash, a hang and an allocation of
gigabytes are failures. The test suite runs a few of the same mutations.
"""

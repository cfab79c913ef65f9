"""Tests of named tasks."""

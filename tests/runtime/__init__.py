"""Tests of runtime/*: real servers, real processes, real files."""

"""Tests, mirroring the packages they test."""

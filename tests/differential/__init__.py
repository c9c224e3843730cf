"""Differential tests on recorded cases and real vocabularies."""

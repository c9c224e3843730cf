"""Maskwright: exact token masks for structured output of language models."""

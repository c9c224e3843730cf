"""
The compiled engine of maskwright. Private: use the names of the package maskwright.
"""



def library_version() -> str:
    """Return the release of the compiled engine, for example ``0.1.0``."""
